import type { Files } from '../../ports.ts';
import type { Command } from '../command.ts';
import { baseCommands } from './base.ts';
import { jsonCommands } from './json.ts';
import { jwtCommands } from './jwt.ts';
import { numberCommands } from './number.ts';
import { type WsPorts, wsCommands } from './ws/ws.ts';

/** Every command that comes with the package, group by group as they are listed. */
export function builtinCommands(ports: WsPorts & { readonly files: Files }): readonly Command[] {
  return [...wsCommands(ports), ...jwtCommands, ...baseCommands, ...jsonCommands(ports.files), ...numberCommands];
}
