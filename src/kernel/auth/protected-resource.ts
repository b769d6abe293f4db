/**
 * The address of the tool protocol as a protected resource (RFC 9728). It must equal the address that clients use, so it exists
 * only where the operator states the public URL.
 */

const RESOURCE_PATH = '/api/mcp'
const METADATA_PATH = '/.well-known/oauth-protected-resource'

export const getToolResource = (public_url: string | null): string | null =>
  public_url === null ? null : `${public_url}${RESOURCE_PATH}`

/** The metadata of a resource with a path stand before that path, at the root of the host. */
export const getMetadataUrl = (public_url: string | null): string | null =>
  public_url === null ? null : `${public_url}${METADATA_PATH}${RESOURCE_PATH}`
