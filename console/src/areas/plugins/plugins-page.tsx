/** All plugins: what they extend, the version in force, whether it runs or why not, and their last failure. */
import { Group, Table, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { pluginKind } from '#console/ui/decision/definition-kind.ts'
import { SharedMark } from '#console/ui/definition/definition-marks.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { PluginStateBadge } from '#console/ui/plugin/plugin-badges.tsx'
import { lastFailureQuery, pluginsQuery } from '#console/ui/plugin/plugin-queries.ts'
import { describeReason, formatKind, type Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { SearchableList } from '#console/ui/searchable-list.tsx'
import { PinnedMark } from '#console/ui/why-in-force.tsx'

const kinds = ['factor', 'adapter', 'provider'] as const

export default function PluginsPage() {
  const may = usePermission()
  const { data: all } = useSuspenseQuery(pluginsQuery)
  const kind = useFilter('kind', kinds)
  return (
    <Page
      title="Plugins"
      about="Code that extends this service: a score of a matrix, the adapter of an import, the requests to a provider. It runs in a sandbox, and what needs a plugin that cannot run is refused."
      actions={may('createPlugin') && <ButtonLink to="/plugins/new">New plugin</ButtonLink>}
    >
      <SearchableList
        {...pluginKind}
        items={all}
        searchedBy="name or key"
        toTexts={(one) => [one.plugin_key, one.title]}
        more={{
          names: ['kind'],
          fields: <Filter name="kind" label="Kind" values={kinds} everything="All kinds" />,
          matches: (one) => kind === undefined || one.kind === kind,
        }}
        head={[
          { name: 'Plugin' },
          { name: 'Kind', from: 'md' },
          { name: 'In force', from: 'sm' },
          { name: 'State' },
          { name: 'Last failure', from: 'lg' },
        ]}
        empty={{
          title: 'No plugins yet',
          about: emptyText,
          action: may('createPlugin') && (
            <ButtonLink to="/plugins/new" size="xs">
              New plugin
            </ButtonLink>
          ),
        }}
      >
        {(one) => <PluginRow key={`${one.origin} ${one.plugin_key}`} of={one} />}
      </SearchableList>
    </Page>
  )
}

const emptyText = (
  <>
    A plugin is a small program for what the forms of this service cannot express, such as a score that needs a
    calculation. It has golden examples that prove what it does, sees only what it is given, and changes no decision
    before a version of it is put in force. A policy editor uploads one that your developers or a vendor wrote.
  </>
)

function PluginRow({ of }: { readonly of: Plugin }) {
  const { plugin_key, origin, active } = of
  const reasons = of.reasons.filter(({ code }) => code !== 'not_in_force')
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8}>
          <SearchLink to={`/plugins/${plugin_key}`} search={{ origin }} fw={500} size="sm">
            {of.title}
          </SearchLink>
          {origin === 'shared' && <SharedMark />}
          <PinnedMark of={of} />
        </Group>
        <Text size="xs" c="dimmed" className="mono">
          {plugin_key}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">{formatKind(of.kind)}</Table.Td>
      <Table.Td visibleFrom="sm">
        {active === null ? (
          <span className="quiet">no version</span>
        ) : (
          `version ${active.version}${active.label === null ? '' : ` (${active.label})`}`
        )}
      </Table.Td>
      <Table.Td>
        <PluginStateBadge of={of} />
        {!of.disabled && reasons.length > 0 && (
          <Text size="xs" c="dimmed">
            {active === null && 'newest version: '}
            {describeReason(reasons[0]?.code ?? '')}
            {reasons.length > 1 && ` and ${reasons.length - 1} more`}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <LastFailure plugin_key={plugin_key} />
      </Table.Td>
    </Table.Tr>
  )
}

function LastFailure({ plugin_key }: { readonly plugin_key: string }) {
  const may = usePermission()
  const { data } = useQuery({ ...lastFailureQuery(plugin_key), enabled: may('listPluginInvocations') })
  const last = data?.items[0]
  if (last === undefined) return <span className="quiet">{data === undefined ? '' : 'none'}</span>
  return (
    <>
      <RelativeTime at={last.invoked_at} /> <RestrictionMark restriction_id={last.restriction_id} />
      <Text size="xs" c="dimmed">
        {describeReason(last.failures[0]?.reason ?? '')}
      </Text>
    </>
  )
}
