/** What runs a plugin, and so answers 503 while it cannot run. */
import { Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { dependentsQuery } from '#console/ui/plugin/plugin-queries.ts'
import { describeOperations, formatDependentKind, getDependentPage } from '#console/ui/plugin/plugin-texts.ts'

type Dependent = Schemas['PluginDependent']

function DependentLink({ of }: { readonly of: Dependent }) {
  const page = getDependentPage(of)
  const name = of.title || of.key
  return page === undefined ? (
    <span>{name}</span>
  ) : (
    <PageLink to={page} size="sm" fw={500}>
      {name}
    </PageLink>
  )
}

export function DependentList({ items }: { readonly items: readonly Dependent[] }) {
  return (
    <Stack gap={2} component="ul" className="plain-list" aria-label="What is refused now">
      {items.map((item) => (
        <li key={`${item.kind} ${item.key} ${item.version}`}>
          <Group gap={6}>
            <Text size="sm" span>
              {formatDependentKind(item.kind)}
            </Text>
            <DependentLink of={item} />
            <Text size="sm" span c="dimmed">
              {describeOperations(item.operations)}
            </Text>
          </Group>
        </li>
      ))}
    </Stack>
  )
}

export function DependentsTab({ plugin_key }: { readonly plugin_key: string }) {
  const { data } = useSuspenseQuery(dependentsQuery(plugin_key))
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {data.runs
          ? 'The plugin runs. If it could not, the operations below would be refused with status 503.'
          : 'The plugin cannot run: the operations below are refused with status 503. Everything else works.'}
      </Text>
      <PlainTable
        label="Dependents"
        head={[{ name: 'Name' }, { name: 'Kind' }, { name: 'Version', from: 'sm' }, { name: 'Operations', from: 'sm' }]}
        empty={{
          title: 'Nothing uses this plugin',
          about:
            'Matrices, imports and providers in force that run it appear here. Name it in a factor of a matrix, in a new import or in the manifest of a provider.',
        }}
      >
        {data.items.map((item) => (
          <Table.Tr key={`${item.kind} ${item.key} ${item.version}`}>
            <Table.Td>
              <DependentLink of={item} />
              <Text size="xs" c="dimmed" className="mono">
                {item.key}
              </Text>
              {item.reasons.length > 0 && (
                <Text size="xs" c="red">
                  Refused: {item.reasons.map(({ message }) => message).join(' ')}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              {formatDependentKind(item.kind)}
              <Text size="xs" c="dimmed" hiddenFrom="sm">
                {item.version !== null && `Version ${item.version}. `}
                {describeOperations(item.operations)}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">{item.version ?? '–'}</Table.Td>
            <Table.Td visibleFrom="sm">{describeOperations(item.operations)}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Stack>
  )
}
