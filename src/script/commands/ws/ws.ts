import type { Command } from '../../command.ts';
import { fileCommands } from './files.ts';
import { headerCommands } from './headers.ts';
import { type HttpPorts, httpCommands } from './http.ts';
import { type OAuthPorts, oauthCommands } from './oauth.ts';

/** What the group ws needs of the world. */
export interface WsPorts extends HttpPorts, OAuthPorts {}

/** The commands of the group ws that talk to providers and APIs. */
export function wsCommands(ports: WsPorts): Command[] {
  return [...oauthCommands(ports), ...headerCommands(), ...httpCommands(ports), ...fileCommands(ports)];
}
