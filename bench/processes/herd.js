// One process of a herd: many callers want the same token at once. How many were served is its exit status, beyond 100: printing would load what the bare
// process that it is compared with does not load either; and it loads nothing but its candidate, as a user's script would.
const [candidate = '', accessToken = '', url = '', file = '', refreshToken = '', callers = '1'] = process.argv.slice(2);
const get = (await import(candidate)).share(url, file, refreshToken);
const replies = await Promise.allSettled(Array.from({ length: Number(callers) }, get));
process.exitCode = 100 + replies.filter((reply) => reply.status === 'fulfilled' && reply.value === accessToken).length;
