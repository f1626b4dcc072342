export { type Fault as EmulatorFault, type FaultKind, faultKinds } from './emulator/faults.ts';
export type { EmulatedProfile, EmulatedProfiles } from './emulator/profiles.ts';
export { type Emulator, type EmulatorOptions, type ServedRequest, startEmulator } from './emulator/start-emulator.ts';
