/** What the providers module reads and writes of credentials and of how a tenant uses a provider. */

export {
  findCredential,
  findCredentialVersion,
  findVersionToVerify,
  listProviderSettings,
  type ProviderMode,
  type ProviderSettingRow,
  providerModes,
  updateVersionRejected,
  updateVersionVerified,
  upsertProviderSetting,
} from './queries.ts'
export { type Environment, environments } from './schema.ts'
export { toCredentialKey } from './tool-servers/server-auth.ts'
