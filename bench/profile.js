/** The one client that every candidate authenticates as. */
export const client = { id: 'benchmark', secret: 'a-secret-of-32-characters-or-so!' };

/** What the server hands out; every candidate must come back with it. */
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

/** The form that all of them send. */
export const form = () =>
  new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret });
