/** The plugins that scored factors of a decision: version, hashes and what each said. */

import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { toSentence } from '#console/ui/format.ts'
import { getOrigin } from '#console/ui/origin.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { formatPluginValue } from '#console/ui/plugin/plugin-texts.ts'
import { formatPoints } from '#console/ui/points.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'

interface UsedPlugin {
  readonly plugin_key: string
  readonly via: string | null
  readonly version: number
  readonly content_hash: string
  readonly configuration_hash: string
  readonly sandbox_hash: string
  /** The key of the factor. */
  readonly factor: string
  readonly result: {
    readonly score_bps: number
    readonly reason_code: string | null
    readonly values?: Readonly<Record<string, unknown>> | null
  }
  readonly fuel: number
}

/** Decisions of earlier formats name no plugins. */
const getPlugins = (one: Schemas['Evaluation'] & { readonly plugins?: readonly UsedPlugin[] }): readonly UsedPlugin[] =>
  one.plugins ?? []

export function PluginsUsed({ one }: { readonly one: Schemas['Evaluation'] }) {
  const plugins = getPlugins(one)
  if (plugins.length === 0) return null
  return (
    <Section title="Plugins">
      <Stack gap="sm">
        <PlainTable
          label="Plugins used"
          empty={null}
          head={[
            { name: 'Plugin' },
            { name: 'Factor' },
            { name: 'Score' },
            { name: 'Content', from: 'sm' },
            { name: 'Configuration', from: 'md' },
            { name: 'Sandbox', from: 'md' },
          ]}
        >
          {plugins.map((plugin) => (
            <PluginRow key={plugin.factor} of={plugin} />
          ))}
        </PlainTable>
        <Text size="xs" c="dimmed">
          A replay runs exactly this version, with the same configuration and sandbox, even if the plugin was disabled
          since.
        </Text>
      </Stack>
    </Section>
  )
}

const Hash = ({ of, name }: { readonly of: string; readonly name: string }) => (
  <CopyValue value={of.slice(0, 12)} name={`the beginning of the ${name}`} />
)

function PluginRow({ of }: { readonly of: UsedPlugin }) {
  const values = Object.entries(of.result.values ?? {})
  return (
    <Table.Tr>
      <Table.Td>
        <SearchLink
          to={`/plugins/${of.plugin_key}`}
          search={{ version: of.version, ...(of.via !== null && { origin: getOrigin(of.via) }) }}
          size="sm"
        >
          {of.plugin_key}, version {of.version}
        </SearchLink>
        <Text size="xs" c="dimmed">
          fuel {of.fuel.toLocaleString('en')}
        </Text>
      </Table.Td>
      <Table.Td>{toSentence(of.factor)}</Table.Td>
      <Table.Td>
        {formatPoints(of.result.score_bps)}
        {of.result.reason_code !== null && (
          <Text size="xs" c="dimmed" className="mono">
            {of.result.reason_code}
          </Text>
        )}
        {values.map(([name, value]) => (
          <Text size="xs" c="dimmed" key={name}>
            {toSentence(name)}: {formatPluginValue(value)}
          </Text>
        ))}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Hash of={of.content_hash} name="content hash" />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Hash of={of.configuration_hash} name="configuration hash" />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Hash of={of.sandbox_hash} name="sandbox hash" />
      </Table.Td>
    </Table.Tr>
  )
}
