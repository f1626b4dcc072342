/** Version of this package. release-please updates it; a test compares it with package.json. */
export const version = '0.1.0'; // x-release-please-version
