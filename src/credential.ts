export { type AwsRole, buildAwsRequest, formatAwsResponse, stsEndpoint } from './credential/aws.ts';
export { formatBazelResponse, parseBazelRequest } from './credential/bazel.ts';
export {
  CARGO_HELLO,
  type CargoRequest,
  formatCargoError,
  formatCargoResponse,
  parseCargoRequest,
} from './credential/cargo.ts';
export { DOCKER_NOT_FOUND, formatDockerResponse, parseDockerRequest } from './credential/docker.ts';
export { formatCurl, formatEnv, formatHeadersJson, formatNetrc } from './credential/formats.ts';
export { formatGitResponse, GIT_QUIT, type GitRequest, parseGitRequest } from './credential/git.ts';
export { formatGoogleError, formatGoogleResponse } from './credential/google.ts';
export {
  formatKubernetesResponse,
  type KubernetesRequest,
  parseKubernetesRequest,
} from './credential/kubernetes.ts';
export type { ToolToken } from './credential/tool-token.ts';
