/** Fields that people mistype; any other name may be a field that only its provider knows. */
export const KNOWN_FIELDS: readonly string[] = [
  'type',
  'url',
  'tenant_id',
  'grant_type',
  'client_id',
  'client_secret',
  'username',
  'password',
  'refresh_token',
  'scope',
  'audience',
  'resource',
  'redirect_uri',
  'code',
];
