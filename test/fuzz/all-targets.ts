import type { Target } from './target.ts';
import { dataTargets } from './targets/data.ts';
import { profileTargets } from './targets/profile.ts';
import { scriptTargets } from './targets/script.ts';
import { secretTargets } from './targets/secret.ts';
import { signInTargets } from './targets/sign-in.ts';
import { storeTargets } from './targets/store.ts';
import { surroundingsTargets } from './targets/surroundings.ts';
import { tokenTargets } from './targets/token.ts';

/** Everything that reads what somebody else wrote. */
export const allTargets: readonly Target[] = [
  ...dataTargets,
  ...scriptTargets,
  ...profileTargets,
  ...tokenTargets,
  ...signInTargets,
  ...storeTargets,
  ...surroundingsTargets,
  ...secretTargets,
];
