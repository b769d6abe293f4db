/** The matrices that name a plugin: which of them a version of it does not fit, and the gate for such a version. */
import type { Finding } from '#decision/model.ts'
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PluginDependent } from '#kernel/module.ts'
import { Problem } from '#kernel/problem.ts'
import type { versionStore } from '#modules/definitions/index.ts'
import { findManifestInForce } from '#modules/plugins/index.ts'
import { findResolution } from './binding/bind-definition.ts'
import { type BindCapabilities, toMisfitReasons } from './binding/bound-plugins.ts'
import { findFactorMisfits } from './binding/plugin-misfits.ts'
import { listMatricesByPlugin, listMatrixChanges } from './queries.ts'

interface NamingMatrix {
  readonly key: string
  readonly version: number
  readonly title: string
  /** Why it cannot use the version of the plugin in force; empty where none is, or it cannot be read. */
  readonly misfits: readonly Finding[]
}

async function listNamingMatrices(
  kernel: BindCapabilities,
  tx: Tx,
  plugin_key: string,
  valid_at?: string,
): Promise<NamingMatrix[]> {
  const matrices = await listMatricesByPlugin(tx, plugin_key, valid_at ?? null)
  if (matrices.length === 0) return []
  const manifest = await findManifestInForce(kernel, tx, { plugin_key, ...(valid_at !== undefined && { valid_at }) })
  return mapWithPrecompute(matrices, async (matrix) => {
    const compiled = manifest && (await findCompiled(kernel, tx, matrix.key, valid_at))
    return { ...matrix, misfits: manifest && compiled ? findFactorMisfits(compiled, plugin_key, manifest) : [] }
  })
}

/** Null where the stored content of the matrix lost its hash: then no version of a plugin makes it decide. */
async function findCompiled(kernel: BindCapabilities, tx: Tx, key: string, valid_at?: string) {
  try {
    const wanted = { family: 'matrix' as const, key, bypass_caches: true, without_plugins: true, valid_at }
    return (await findResolution(kernel, tx, wanted)).compiled
  } catch (error) {
    if (error instanceof Problem && error.code === 'content_corrupt') return null
    throw error
  }
}

export const listPluginDependents = async (
  kernel: BindCapabilities,
  tx: Tx,
  plugin_key: string,
): Promise<PluginDependent[]> =>
  (await listNamingMatrices(kernel, tx, plugin_key)).map(({ key, version, title, misfits }) => ({
    kind: 'matrix',
    key,
    version,
    title,
    reasons: toMisfitReasons(misfits),
  }))

/** Maximum number of later scheduled changes of matrices that are checked. */
const MAX_INSTANTS = 20

interface RefusedMatrix {
  readonly family: 'matrix'
  readonly key: string
  readonly version: number
  /** Null: now. */
  readonly from: string | null
  readonly findings: readonly Finding[]
}

/**
 * Matrices, in force or scheduled, that a change of the plugin leaves without an answer. Those that had none before do not hold it
 * back.
 */
export async function reviewPlugin(
  kernel: BindCapabilities,
  tx: Tx,
  plugin_key: string,
  valid_at: string | undefined,
): Promise<() => Promise<versionStore.Gate[]>> {
  const later = await listMatrixChanges(tx, valid_at ?? null, MAX_INSTANTS)
  const instants = [valid_at, ...later.map(({ at }) => at)]
  const listAtInstants = () => mapWithPrecompute(instants, (at) => listNamingMatrices(kernel, tx, plugin_key, at))
  const before = await listAtInstants()
  const known = before.map(
    (matrices) => new Set(matrices.flatMap(({ key, misfits }) => misfits.map((misfit) => toMisfitId(key, misfit)))),
  )
  return async () => {
    const refused = new Map<string, RefusedMatrix>()
    for (const [index, matrices] of (await listAtInstants()).entries()) {
      for (const { key, version, misfits } of matrices) {
        const findings = misfits.filter((misfit) => !known[index]?.has(toMisfitId(key, misfit)))
        if (findings.length === 0 || refused.has(key)) continue
        refused.set(key, { family: 'matrix', key, version, from: instants[index] ?? null, findings })
      }
    }
    const definitions = [...refused.values()]
    const [first] = definitions
    if (!first) return []
    const named = definitions.map(({ key }) => `matrix ${key}`).join(', ')
    const detail = `${named} could not use this version: ${first.findings[0]?.message}`.slice(0, 1000)
    return [{ gate: 'referenced-by', detail, overridable: false, facts: { plugin_key, definitions } }]
  }
}

const toMisfitId = (key: string, { code, pointer }: Finding): string => `${key} ${code} ${pointer}`
