// oauth2-mock-server: issues a token to every client. Its metadata announces neither the refresh grant nor client secrets.
import { OAuth2Server } from 'oauth2-mock-server';

const server = new OAuth2Server();
await server.issuer.keys.generate('RS256');
server.issuer.url = String(process.env['ISSUER']);
await server.start(0, '127.0.0.1');
process.stdout.write(`${server.address().port}\n`);
