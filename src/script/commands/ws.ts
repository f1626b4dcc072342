import type { Command } from '../command.ts';
import { fileCommands } from './ws-files.ts';
import { headerCommands } from './ws-headers.ts';
import { type HttpPorts, httpCommands } from './ws-http.ts';
import { type OAuthPorts, oauthCommands } from './ws-oauth.ts';

/** What the group ws needs of the world. */
export interface WsPorts extends HttpPorts, OAuthPorts {}

/** The commands of the group ws that talk to providers and APIs. */
export function wsCommands(ports: WsPorts): Command[] {
  return [...oauthCommands(ports), ...headerCommands(), ...httpCommands(ports), ...fileCommands(ports)];
}
