/** Versions of a credential: values are stored as a staged version, which is activated without naming them again. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Route } from '#kernel/route.ts'
import { findMemberFaults } from './credential-shape.ts'
import { toCredentialVersionView } from './credential-view.ts'
import { getDeclaredMembers } from './provider-manifest.ts'
import {
  endOverlaps,
  findCredential,
  findCredentialVersion,
  findLastVersionNumber,
  insertCredentialVersion,
  listCredentialVersions,
  lockCredential,
  updateActiveRetired,
  updateCredentialTouched,
  updateVersionActivated,
} from './queries.ts'
import { CREDENTIALS_ACTION, credentialReaders, getCredentialHead } from './routes.ts'
import {
  CredentialActivation,
  CredentialParams,
  CredentialVersion,
  CredentialVersionList,
  CredentialVersionParams,
  NewCredentialVersion,
} from './schema.ts'
import { encryptSecret } from './with-credential.ts'

export const versionRoutes: readonly Route[] = [
  tenantRoute('GET /provider-credentials/:credential_id/versions', {
    id: 'listCredentialVersions',
    summary: 'Versions of a credential, newest first: states, times and fingerprints',
    roles: credentialReaders,
    tx: 'read',
    params: CredentialParams,
    reply: [200, CredentialVersionList],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => {
    const { credential_id } = assertFound(await findCredential(tx, params.credential_id))
    return { items: (await listCredentialVersions(tx, [credential_id])).map(toCredentialVersionView) }
  }),

  tenantRoute('POST /provider-credentials/:credential_id/versions', {
    id: 'createCredentialVersion',
    summary: 'Store the values of a credential as a staged version, which is not used yet',
    description:
      'Checked against the members that the manifest of the provider declares. Verify the version, then activate it. The values ' +
      'cannot be read back.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches', 'encryption'],
    params: CredentialParams,
    body: NewCredentialVersion,
    secret_body: true,
    reply: [201, CredentialVersion],
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, audit }) => {
    const credential = assertFound(await lockCredential(tx, params.credential_id))
    if (credential.state === 'destroyed') fail('transition_not_allowed', 'The credential is destroyed.')
    const { credential_id, provider_key } = credential
    const shape = await getDeclaredMembers(kernel, tx, provider_key)
    if (shape.length === 0) fail('conflict', `The provider ${provider_key} is called without a credential.`)
    const errors = findMemberFaults(shape, body.members)
    if (errors.length > 0) {
      fail('validation_failed', { detail: `The provider ${provider_key} declares other members.`, errors })
    }
    const { expires_at = null } = body
    if (expires_at !== null && Date.parse(expires_at) <= Date.now()) {
      fail('conflict', 'expires_at is past: the provider no longer accepts these values.')
    }
    const version = (await findLastVersionNumber(tx, credential_id)) + 1
    const { secret, fingerprint } = await encryptSecret(kernel, tx, { credential_id, version }, body.members)
    const members = Object.keys(body.members).toSorted()
    const stored = assertFound(
      await insertCredentialVersion(tx, { credential_id, version, members, secret, fingerprint, expires_at }),
    )
    await updateCredentialTouched(tx, credential_id)
    audit.recordDiff(null, { version, members, fingerprint, expires_at })
    return toCredentialVersionView(stored)
  }),

  tenantRoute('POST /provider-credentials/:credential_id/versions/:version/activations', {
    id: 'activateCredentialVersion',
    summary: 'Use a staged version from now on; the one before is retired',
    description:
      'With `overlap_s`, the version before stays usable for that long where the provider rejects this one. Overlaps of earlier ' +
      'activations end: without `overlap_s`, this version is the only usable one.',
    roles: ['tenant_admin'],
    tx: 'write',
    params: CredentialVersionParams,
    body: CredentialActivation,
    reply: [201, CredentialVersion],
    governed: { action: CREDENTIALS_ACTION, head: getCredentialHead },
    problems: ['not_found', 'transition_not_allowed', 'conflict', 'revision_stale', 'precondition_failed'],
  }).handle(async (input) => {
    const { tx, params, body, audit } = input
    const credential = assertFound(await lockCredential(tx, params.credential_id))
    const version = assertFound(await findCredentialVersion(tx, credential.credential_id, Number(params.version)))
    assertRevision(credential.revision, input)
    if (credential.state === 'destroyed') fail('transition_not_allowed', 'The credential is destroyed.')
    if (version.state !== 'staged') fail('transition_not_allowed', `Version ${version.version} is ${version.state}.`)
    if (version.is_expired) fail('conflict', `Version ${version.version} has expired.`)
    await endOverlaps(tx, credential.credential_id)
    const before = await updateActiveRetired(tx, credential.credential_id, body.overlap_s ?? 0)
    const activated = assertFound(await updateVersionActivated(tx, credential.credential_id, version.version))
    await updateCredentialTouched(tx, credential.credential_id)
    audit.recordDiff(
      { active_version: before?.version ?? null },
      { active_version: activated.version, overlap_s: body.overlap_s ?? 0, reason: body.reason },
    )
    return toCredentialVersionView(activated)
  }),
]
