// One process of a herd: many callers want the same token at once. It prints how many were served, without the streams that the bare process it is
// compared with does not set up either; and it loads nothing but its candidate, as a user's script would.
import { writeSync } from 'node:fs';

const [candidate = '', accessToken = '', url = '', file = '', callers = '1'] = process.argv.slice(2);
const get = (await import(candidate)).share(url, file);
const replies = await Promise.allSettled(Array.from({ length: Number(callers) }, get));
const served = replies.filter((reply) => reply.status === 'fulfilled' && reply.value === accessToken).length;
writeSync(1, String(served));
