// Many callers of one process get the same token at once. The number of successful calls is the exit status minus 100: printing would
// load modules that the bare process in the comparison does not load. For the same reason only the client is imported.
const [client = '', accessToken = '', url = '', file = '', refreshToken = '', callers = '1'] = process.argv.slice(2);
const get = (await import(client)).share(url, file, refreshToken);
const results = await Promise.allSettled(Array.from({ length: Number(callers) }, get));
process.exitCode =
  100 + results.filter((result) => result.status === 'fulfilled' && result.value === accessToken).length;
