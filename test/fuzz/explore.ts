import { Chance } from './chance.ts';
import type { Coverage } from './coverage.ts';
import { Mutator } from './mutate.ts';
import { shrink } from './shrink.ts';
import type { Target } from './target.ts';

/** An input that breaks a property, as small as it could be made. */
interface Failure {
  readonly input: string;
  readonly error: Error;
}

/** What came of a search. */
export interface Found {
  readonly executions: number;
  readonly corpus: readonly string[];
  readonly failure: Failure | undefined;
}

/** How to search. */
export interface Search {
  readonly seed: number;
  /** Asked between batches. */
  goesOn(executions: number): boolean;
  /** Told of each input before it is tried: whoever watches knows which one never ended. */
  beforeEach?: ((input: string) => void) | undefined;
  /** Without it inputs are made of the seeds alone. */
  readonly coverage?: Coverage | undefined;
}

const MAX_BATCH = 256;

/** Tries mutations of the seeds, and of every input that reached code which none had reached before. */
export async function explore(target: Target, { seed, goesOn, beforeEach, coverage }: Search): Promise<Found> {
  const chance = new Chance(seed);
  const mutator = new Mutator(chance, target);
  const corpus = [...target.seeds];
  let executions = 0;
  let batch = coverage === undefined ? 1 : 8;

  const run = async (input: string): Promise<void> => {
    beforeEach?.(input);
    executions++;
    // Most targets need no turn of the event loop.
    const pending = target.check(input);
    if (pending !== undefined) await pending;
  };
  const failed = async (inputs: readonly string[]): Promise<Failure | undefined> => {
    for (const input of inputs) {
      try {
        await run(input);
      } catch (error) {
        return { input, error: error as Error };
      }
    }
    return undefined;
  };
  /** Those among the inputs that reach something new, found by halves: looking is dearer than running. */
  const keepNew = async (inputs: readonly string[], coverage: Coverage): Promise<boolean> => {
    coverage.take();
    await failed(inputs);
    const trace = coverage.take();
    const [only] = inputs;
    if (inputs.length === 1 && only !== undefined) {
      const found = coverage.isNew(trace, true);
      if (found && !corpus.includes(only)) corpus.push(only);
      return found;
    }
    if (!coverage.isNew(trace, false)) return false;
    const middle = inputs.length >> 1;
    const first = await keepNew(inputs.slice(0, middle), coverage);
    return (await keepNew(inputs.slice(middle), coverage)) || first;
  };

  let inputs: string[] = [...corpus];
  const long = coverage === undefined ? [] : repetitions(target).map((piece) => repeated(piece, BASE_LENGTH));
  // Tried, but not kept: of a long input hardly a change means anything.
  let failure = await failed(long);
  for (;;) {
    coverage?.take();
    failure ??= await failed(inputs);
    if (failure !== undefined) return { executions, corpus, failure: await shrunk(run, failure) };
    if (coverage?.isNew(coverage.take(), false)) {
      await keepNew(inputs, coverage);
      batch = Math.max(8, batch >> 1);
    } else if (coverage !== undefined) batch = Math.min(MAX_BATCH, batch * 2);
    if (!goesOn(executions)) return { executions, corpus, failure: undefined };
    inputs = Array.from({ length: batch }, () => mutator.next(recent(corpus, chance)));
  }
}

/** What was found last leads on more often than what was known first. */
function recent(corpus: readonly string[], chance: Chance): readonly string[] {
  return corpus.length > 16 && chance.oneIn(2) ? corpus.slice(-16) : corpus;
}

async function shrunk(run: (input: string) => Promise<void>, { input, error }: Failure): Promise<Failure> {
  let last = error;
  const smallest = await shrink(input, async (text) => {
    try {
      await run(text);
      return false;
    } catch (broken) {
      // Another fault is another story.
      if ((broken as Error).name !== error.name) return false;
      last = broken as Error;
      return true;
    }
  });
  return { input: smallest, error: last };
}

/** Four times the length may take up to so many times the work: by the square it would be sixteen. */
const MAX_GROWTH = 8;
const BASE_LENGTH = 500;
/** So little is nobody's trouble, however it grows. */
const LITTLE_WORK = 100_000;

/** What is repeated to see how work grows: seeds and tokens. */
function repetitions({ seeds, tokens }: Target): string[] {
  return [...new Set([...seeds, ...tokens])].filter((piece) => piece !== '');
}

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** An input whose work grows faster than its length; counted, not timed, so that it is the same on every machine. */
export async function findGrowth(
  target: Target,
  coverage: Coverage,
  beforeEach: (input: string) => void = () => {},
): Promise<{ readonly input: string; readonly problem: string } | undefined> {
  if (target.uncounted) return undefined;
  const workFor = async (piece: string, length: number): Promise<number> => {
    const input = repeated(piece, length);
    beforeEach(input);
    coverage.take();
    // A broken promise is found, and made small, by the search itself.
    await Promise.resolve(input)
      .then((text) => target.check(text))
      .catch(() => {});
    return coverage.take().work;
  };
  for (const piece of repetitions(target)) {
    const large = await workFor(piece, 4 * BASE_LENGTH);
    if (large <= LITTLE_WORK) continue;
    const small = await workFor(piece, BASE_LENGTH);
    if (large <= MAX_GROWTH * small) continue;
    const problem = `repeated, four times the length takes ${(large / small).toFixed(1)} times the work`;
    return { input: piece, problem };
  }
  return undefined;
}
