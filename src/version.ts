/** Version of this package. A test holds it to package.json, which a bundle cannot read without paying for it at start-up. */
export const version = '0.1.0';
