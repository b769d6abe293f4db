/** A factor that a plugin scores: the plugin, the inputs it is given, and the scores it may give. */
import { MultiSelect, NumberInput, Select, SimpleGrid } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Factor } from '#console/ui/decision/definition-model.ts'
import { readManifest } from '#console/ui/plugin/plugin-manifest.ts'
import { pluginsQuery, pluginVersionQuery } from '#console/ui/plugin/plugin-queries.ts'
import type { Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { useDraftContext } from './draft-context.ts'
import { type FactorFormProps, listInputChoices } from './factor-form-props.ts'
import { getFaultText } from './faults.tsx'

export function PluginFactorForm({ factor, pointer, findings, onChange }: FactorFormProps) {
  const { inputs } = useDraftContext()
  const queries = useQueryClient()
  const { data: all } = useQuery({ ...pluginsQuery, throwOnError: false })
  const offered = (all ?? []).filter(({ kind }) => kind === 'factor')
  const chosen = [...(factor.inputs ?? [])]
  /** What the manifest declares is entered, as far as it is readable. */
  async function choose(plugin_key: string) {
    onChange((now) => ({ ...now, plugin_key }))
    const plugin = offered.find((one) => one.plugin_key === plugin_key)
    const declared = plugin && (await readDeclared(plugin))
    if (declared) onChange((now) => (now.plugin_key === plugin_key ? { ...now, ...declared } : now))
  }
  async function readDeclared({ plugin_key, origin, active, head_version }: Plugin): Promise<Partial<Factor> | null> {
    const version = active?.version ?? head_version
    const one = await queries.fetchQuery(pluginVersionQuery(plugin_key, version, origin)).catch(() => null)
    if (one === null) return null
    const { inputs: named, score } = readManifest(one.manifest)
    return {
      inputs: named.map(({ name }) => name),
      ...(score && { score_min_bps: score.min, score_max_bps: score.max }),
    }
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <Select
        label="Plugin"
        placeholder="Choose a plugin"
        searchable
        allowDeselect={false}
        data={listPluginChoices(offered, factor.plugin_key)}
        value={factor.plugin_key || null}
        error={getFaultText(findings, `${pointer}/plugin_key`)}
        onChange={(plugin_key) => plugin_key && choose(plugin_key)}
      />
      <MultiSelect
        label="Inputs that it is given"
        data={listInputChoices(inputs, chosen)}
        value={chosen}
        error={getFaultText(findings, `${pointer}/inputs`) ?? getFaultText(findings, `${pointer}/inputs/0`)}
        onChange={(names) => onChange((now) => ({ ...now, inputs: names }))}
      />
      {(['score_min_bps', 'score_max_bps'] as const).map((member) => (
        <NumberInput
          key={member}
          label={member === 'score_min_bps' ? 'Lowest score, of 10,000 points' : 'Highest score, of 10,000 points'}
          min={0}
          max={10_000}
          allowDecimal={false}
          value={factor[member] ?? ''}
          error={getFaultText(findings, `${pointer}/${member}`)}
          onChange={(typed) => typeof typed === 'number' && onChange((now) => ({ ...now, [member]: typed }))}
        />
      ))}
    </SimpleGrid>
  )
}

/** A key that no plugin has is kept, so that the server reports it. */
function listPluginChoices(offered: readonly Plugin[], present = '') {
  const known = new Map(offered.map(({ plugin_key, title }) => [plugin_key, title]))
  if (present !== '' && !known.has(present)) known.set(present, present)
  return [...known].map(([value, label]) => ({ value, label }))
}
