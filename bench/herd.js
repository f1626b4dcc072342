// One process of a herd: many callers want the same token at once. It prints how many were served.
import { createTokenSource } from '../dist/index.js';
import { accessToken } from './profile.js';

const [data = '{}', callers = '1'] = process.argv.slice(2);
const source = createTokenSource('p', { data: JSON.parse(data) });
const replies = await Promise.all(Array.from({ length: Number(callers) }, () => source.get()));
process.stdout.write(String(replies.filter(({ access_token: token }) => token === accessToken).length));
