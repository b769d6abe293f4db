/** Whether the plugins that a matrix names are in force and fit it: kind, range of scores, and inputs. */
import { listPluginFactors } from '#decision/analysis/plugin-scores.ts'
import type { CompiledDefinition, Finding } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { resolver } from '#modules/definitions/index.ts'
import { bindPlugin, type pluginModel } from '#modules/plugins/index.ts'
import type { BindCapabilities, BoundPlugins } from './binding/bound-plugins.ts'
import { findMisfits } from './binding/plugin-misfits.ts'

export const toPluginFinding = (problem: Problem, pointer: string): Finding => ({
  code: 'plugin_invalid',
  pointer,
  message: problem.extra.detail ?? 'The plugin cannot run.',
  severity: 'error',
})

interface CheckedPlugins {
  readonly plugins: BoundPlugins
  readonly findings: readonly Finding[]
  readonly problem?: Problem
}

/** A plugin that cannot run is a finding here: a draft is checked, not decided. */
export async function checkPlugins(
  kernel: BindCapabilities,
  tx: Tx,
  { definition }: CompiledDefinition,
  { valid_at }: resolver.Clocks,
): Promise<CheckedPlugins> {
  const plugins = new Map<string, pluginModel.BoundPlugin>()
  const findings: Finding[] = []
  let problem: Problem | undefined
  for (const factor of listPluginFactors(definition)) {
    const index = definition.family === 'matrix' ? definition.factors.indexOf(factor) : 0
    const pointer = `/factors/${index}`
    try {
      const { plugin_key } = factor
      const wanted = { plugin_key, kind: 'factor' as const, ...(valid_at !== undefined && { valid_at }) }
      const bound = plugins.get(plugin_key) ?? (await bindPlugin(kernel, tx, wanted))
      plugins.set(plugin_key, bound)
      findings.push(...findMisfits(factor, bound.manifest, definition.inputs, pointer))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'plugin_invalid') throw error
      problem ??= error
      findings.push(toPluginFinding(error, `${pointer}/plugin_key`))
    }
  }
  return { plugins, findings, ...(problem && { problem }) }
}
