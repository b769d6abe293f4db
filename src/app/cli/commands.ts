/**
 * All commands of the operator's tool, in the groups of the help text. Each is loaded on demand: loading all of them takes longer
 * than most commands run.
 */
import type { Command, CommandEntry } from './command.ts'

const entry = (name: string, summary: string, load: () => Promise<Command>): CommandEntry => ({ name, summary, load })

const run: readonly CommandEntry[] = [
  entry('start', 'Database, migrations, API, console and jobs in one process', async () => {
    return (await import('./start.ts')).start
  }),
  entry('api', 'The HTTP API and console alone', async () => (await import('./api-worker.ts')).api),
  entry('worker', 'The job runner alone', async () => (await import('./api-worker.ts')).worker),
]

const database: readonly CommandEntry[] = [
  entry('migrate', 'Apply pending migrations, or show them', async () => (await import('./migrate.ts')).migrate),
  entry('roles', 'Print the SQL that makes the database roles', async () => (await import('./roles.ts')).roles),
  entry(
    'seed',
    'Create the signing key, the isolation canary and, with PROBITY_DEMO=on, the demo tenants',
    async () => {
      return (await import('./seed.ts')).seed
    },
  ),
  entry('backup', 'Write all tenants and shared rows to one file', async () => (await import('./backup.ts')).backup),
  entry('restore', 'Fill an empty, migrated database from a backup file', async () => {
    return (await import('./restore.ts')).restore
  }),
  entry('erasures replay', 'Erase again what was erased, after an older state was restored', async () => {
    return (await import('./erasures.ts')).erasuresReplay
  }),
]

const access: readonly CommandEntry[] = [
  entry('tenant create', 'Create a tenant and its first API key', async () => {
    return (await import('./tenant-create.ts')).tenantCreate
  }),
  entry('tenant list', 'List the tenants', async () => (await import('./tenant.ts')).tenantList),
  entry('tenant suspend', 'Lock a tenant out; nothing is deleted', async () => {
    return (await import('./tenant.ts')).tenantSuspend
  }),
  entry('tenant resume', 'Let a suspended tenant in again', async () => (await import('./tenant.ts')).tenantResume),
  entry('tenant delete', 'Delete a suspended tenant and everything it has, for ever', async () => {
    return (await import('./tenant-delete.ts')).tenantDelete
  }),
  entry('user add', 'Add a person with roles to a tenant that has too few people to approve', async () => {
    return (await import('./user.ts')).userAdd
  }),
  entry('user reactivate', 'Give a deactivated person of a tenant access again', async () => {
    return (await import('./user.ts')).userReactivate
  }),
  entry('restriction unreachable', 'List restrictions whose last person with access was deactivated', async () => {
    return (await import('./restriction.ts')).restrictionUnreachable
  }),
  entry('restriction grant', 'Give a person access to a restriction that nobody can see', async () => {
    return (await import('./restriction.ts')).restrictionGrant
  }),
  entry('token', 'Print a token for a tenant', async () => (await import('./token.ts')).token),
  entry('keys list', 'List the signing keys of the built-in issuer', async () => {
    return (await import('./signing-keys.ts')).keysList
  }),
  entry('keys rotate', 'Make a new signing key and retire the current one', async () => {
    return (await import('./signing-keys.ts')).keysRotate
  }),
]

const masterKeys: readonly CommandEntry[] = [
  entry('keys rewrap', 'Encrypt all keys in the database under the first master key', async () => {
    return (await import('./master-keys.ts')).keysRewrap
  }),
  entry('keys retire', 'Check that nothing needs a master key any more, and record that it goes', async () => {
    return (await import('./master-keys.ts')).keysRetire
  }),
  entry('keys rotate-tenant', 'Give a tenant a new key, and destroy the one before', async () => {
    return (await import('./master-keys.ts')).keysRotateTenant
  }),
  entry('keys renew', 'Make new integrity keys, after a leak or when the master key was lost', async () => {
    return (await import('./master-keys.ts')).keysRenew
  }),
]

const sharedLists: readonly CommandEntry[] = [
  entry('reference-data list', 'List the shared lists: newest version, what is in force, what is pending', async () => {
    return (await import('./reference-data.ts')).referenceDataList
  }),
  entry('reference-data types', 'List the shared types that a shared list may have', async () => {
    return (await import('./reference-data.ts')).referenceDataTypes
  }),
  entry('reference-data import', 'Import a file as the next version of a shared list', async () => {
    return (await import('./reference-data-import.ts')).referenceDataImport
  }),
  entry('reference-data index', 'Build missing search indexes of shared lists', async () => {
    return (await import('./reference-data-index.ts')).referenceDataIndex
  }),
  entry('reference-data diff', 'Show what differs between two versions of a shared list, key by key', async () => {
    return (await import('./reference-data.ts')).referenceDataDiff
  }),
  entry('reference-data activate', 'Put a version of a shared list in force, in 24 hours or now', async () => {
    return (await import('./reference-data.ts')).referenceDataActivate
  }),
  entry('reference-data schedule', 'Put a version of a shared list in force from an instant on', async () => {
    return (await import('./reference-data.ts')).referenceDataSchedule
  }),
  entry(
    'reference-data rollback',
    'Put the version before back in force, now, and revoke what is scheduled',
    async () => {
      return (await import('./reference-data.ts')).referenceDataRollback
    },
  ),
  entry(
    'reference-data withdraw',
    'Withdraw a version of a shared list: readable for ever, never activated again',
    async () => (await import('./reference-data.ts')).referenceDataWithdraw,
  ),
]

const plugins: readonly CommandEntry[] = [
  entry('plugin init', 'Write a new plugin that is valid as it is', async () => {
    return (await import('./plugin.ts')).pluginInit
  }),
  entry('plugin check', 'Validate a plugin as an upload does, without a server', async () => {
    return (await import('./plugin.ts')).pluginCheck
  }),
  entry('plugin pack', 'Write the package of a plugin, signed if wanted', async () => {
    return (await import('./plugin.ts')).pluginPack
  }),
]

const look: readonly CommandEntry[] = [
  entry('openapi', 'Print the OpenAPI 3.1 document', async () => (await import('./openapi.ts')).openapi),
  entry('doctor', 'Check this installation, and say what to do about each fault', async () => {
    return (await import('./doctor.ts')).doctor
  }),
  entry(
    'verify audit',
    'Verify an exported audit record offline',
    async () => (await import('./verify.ts')).verifyAudit,
  ),
  entry('verify proof', 'Verify offline that a key is, or is not, in a version of a list', async () => {
    return (await import('./verify.ts')).verifyProofFile
  }),
  entry('verify pack', 'Verify the archive of a closed investigation offline', async () => {
    return (await import('./verify-pack.ts')).verifyPack
  }),
  entry('verify erasure', 'Verify the certificate of an erasure offline', async () => {
    return (await import('./verify-erasure.ts')).verifyErasure
  }),
  entry('verify certificate', 'Verify the signed record of a decision offline, and show the decision', async () => {
    return (await import('./verify-certificate.ts')).verifyCertificate
  }),
]

export const commandGroups: readonly (readonly [title: string, commands: readonly CommandEntry[]])[] = [
  ['Run', run],
  ['Database', database],
  ['Tenants and access', access],
  ['Master and integrity keys', masterKeys],
  ['Shared lists', sharedLists],
  ['Plugins', plugins],
  ['Look', look],
]

export const commands: readonly CommandEntry[] = commandGroups.flatMap(([, list]) => list)
