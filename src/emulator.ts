export type {
  ClientOptions as EmulatedClient,
  EmulatorConfig,
  UserOptions as EmulatedUser,
} from './emulator/config.ts';
export type { DecodedToken, ServedRequest } from './emulator/control/request-log.ts';
export { type Fault as EmulatorFault, type FaultKind, faultKinds } from './emulator/faults.ts';
export type { EmulatedProfile, EmulatedProfiles } from './emulator/realms.ts';
export type { ProviderOptions as EmulatedProviderOptions } from './emulator/settings.ts';
export { type Emulator, startEmulator } from './emulator/start-emulator.ts';
export type { StubOptions as EmulatedStub } from './emulator/stubs.ts';
export type { SigningAlgorithm } from './emulator/tokens/signing-keys.ts';
