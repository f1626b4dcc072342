import type { Command } from '../command.ts';
import { baseCommands } from './base.ts';
import { jsonCommands } from './json.ts';
import { jwtCommands } from './jwt.ts';
import { numberCommands } from './number.ts';
import { fileCommands } from './ws/files.ts';
import { headerCommands } from './ws/headers.ts';
import { httpCommands } from './ws/http.ts';
import { oauthCommands, type TokenService } from './ws/oauth.ts';
import type { HttpPorts } from './ws/send.ts';
import { xmlCommands } from './xml.ts';

/** Creates all built-in commands, in the order in which they are listed. */
export function builtinCommands(ports: HttpPorts & { readonly tokens: TokenService }): readonly Command[] {
  return [
    ...oauthCommands(ports.tokens),
    ...headerCommands,
    ...httpCommands(ports),
    ...fileCommands(ports),
    ...jwtCommands,
    ...baseCommands,
    ...jsonCommands(ports.files),
    ...xmlCommands,
    ...numberCommands,
  ];
}
