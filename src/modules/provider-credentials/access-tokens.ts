/** Access tokens, for whoever calls a provider or a tool server. */
export { getTokenSettings, requestToken, TokenRefused, type TokenSettings } from './oauth-token.ts'
export { type AccessToken, discardToken, getAccessToken } from './token-lease.ts'
