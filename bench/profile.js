/** The one client that every candidate authenticates as. */
export const client = { id: 'benchmark', secret: 'a-secret-of-32-characters-or-so!' };

/** What the servers hand out; every candidate must come back with it. */
export const accessToken = `${'eyJhbGciOiJub25lIn0'.padEnd(700, 'x')}.e30.`;

/** @param {string} url @returns the variables of our own profile `p` */
export const dataFor = (url) => ({
  p: {
    type: 'custom',
    url,
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
  },
});

/** The same client with a refresh token. @param {string} url @param {string} refreshToken */
export const refreshingDataFor = (url, refreshToken) => ({
  p: { ...dataFor(url).p, grant_type: 'refresh_token', refresh_token: refreshToken },
});

/** The form that all of them send. */
export const form = () =>
  new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret });
