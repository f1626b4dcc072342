import { Program, type Require } from './program.ts';

let ofPackages: Require | undefined;

/** Packages are rarely needed. */
const require: Require = (id) => {
  if (id.startsWith('node:')) return process.getBuiltinModule(id);
  ofPackages ??= process.getBuiltinModule('node:module').createRequire(import.meta.url);
  return ofPackages(id);
};

const program = new Program(`${import.meta.dirname}/node/`, require);

let willKeep = false;

/** What an entry point of the library exports. */
export function load(entry: string): object {
  // What comes along with it says nothing yet about what the program will use.
  program.onCompiled = undefined;
  try {
    return program.load(entry);
  } finally {
    program.onCompiled = keepAtExit;
  }
}

function keepAtExit(): void {
  if (willKeep) return;
  willKeep = true;
  process.once('exit', () => {
    // In the long run V8 throws away what is not used any more.
    if (process.uptime() < 60) program.keepCompiled();
  });
}
