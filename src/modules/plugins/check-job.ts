/**
 * Validates versions again under a new build of the sandbox, and refreshes what readiness and metrics count. Until a version has its
 * result it runs under the build that it was validated with, so no request waits for this job.
 */
import { defineJob } from '#kernel/job/define-job.ts'
import { assertFound } from '#kernel/problem.ts'
import { closed } from '#kernel/schema.ts'
import { datasetStore, documentStore, versionStore } from '#modules/definitions/index.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import { validatePluginCode, wasAccepted } from './code-validation.ts'
import { isReason, loadPlugin } from './load-plugin.ts'
import { PLUGIN_FAMILY } from './model.ts'
import {
  insertValidation,
  listPluginKeys,
  listUnvalidatedVersions,
  listValidations,
  removeStatusExcept,
} from './queries.ts'
import { refreshStatus } from './status.ts'

export const PLUGIN_CHECK = 'plugin-check'

/** What is left waits for the next run. */
const MAX_VERSIONS = 200

export const pluginCheckJob = defineJob({
  kind: PLUGIN_CHECK,
  every_s: 600,
  summary: 'Validates plugins under a new build of the sandbox and finds active ones that can no longer run.',
  payload: closed({}),
  resumes: 'restart',
  uses: ['caches', 'threads', 'plugin_policy'],
  run: async ({ kernel, read, step, finish, signal, tenant_id }) => {
    const versions = await read((tx) => listUnvalidatedVersions(tx, SANDBOX_HASH, MAX_VERSIONS))
    let validated = 0
    for (const { plugin_key, dataset_id, version } of versions) {
      signal.throwIfAborted()
      const { plugin, earlier } = await read(async (tx) => {
        const dataset = assertFound(await datasetStore.findDataset(tx, plugin_key, PLUGIN_FAMILY, 'own'))
        const row = assertFound(await versionStore.findVersion(tx, dataset, version))
        const plugin = await loadPlugin(kernel, tx, documentStore.toContentPointer(dataset, row))
        return { plugin, earlier: await listValidations(tx, row) }
      })
      // Its bytes lost their hash: binding says so, and there is nothing to validate.
      if (isReason(plugin)) continue
      const was_accepted = wasAccepted(plugin, earlier)
      const { reasons, fuel_max } = await validatePluginCode(kernel, plugin, { caller: tenant_id, was_accepted })
      await step(async (tx) => {
        await insertValidation(
          tx,
          { tenant_id, dataset_id, version },
          {
            sandbox_hash: SANDBOX_HASH,
            content_hash: plugin.content_hash,
            valid: reasons.length === 0,
            reasons,
            fuel_max,
          },
        )
        return {
          audit: {
            plugin_key,
            plugin_version: version,
            sandbox_hash: SANDBOX_HASH,
            valid: reasons.length === 0,
            reasons: reasons.map(({ code }) => code),
          },
        }
      })
      validated++
    }
    const plugins = await read((tx) => listPluginKeys(tx))
    await finish(async (tx) => {
      for (const { plugin_key } of plugins) await refreshStatus(kernel, tx, plugin_key)
      await removeStatusExcept(
        tx,
        plugins.map(({ plugin_key }) => plugin_key),
      )
      return { validated, plugins: plugins.length }
    })
    return null
  },
})
