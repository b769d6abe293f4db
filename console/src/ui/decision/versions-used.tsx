/** The versions a decision was made on: of the matrix or rule, and of each list. */
import { Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { PlainTable } from '../plain-table.tsx'
import { SearchLink } from '../search-link.tsx'
import { Section } from '../section.tsx'
import { getKind } from './definition-kind.ts'
import { DefinitionName } from './definition-name.tsx'
import { ListLink } from './explanation.tsx'

type VersionsUsedProps = Pick<Schemas['Evaluation'], 'definition' | 'lists'>

export function VersionsUsed({ definition, lists }: VersionsUsedProps) {
  const kind = getKind(definition.family)
  return (
    <Section title="Versions used">
      <PlainTable
        label="Versions"
        empty={null}
        head={[
          { name: 'Matrix, rule or list' },
          { name: 'Selected because', from: 'sm' },
          { name: 'Content hash', from: 'md' },
        ]}
      >
        <Table.Tr>
          <Table.Td>
            <SearchLink
              to={`${kind.basePath}/${definition.key}`}
              search={{ tab: 'reading', version: definition.version, origin: definition.origin }}
              size="sm"
            >
              {kind.word}{' '}
              <DefinitionName family={definition.family} definition_key={definition.key} origin={definition.origin} />,
              version {definition.version}
            </SearchLink>
          </Table.Td>
          <Table.Td visibleFrom="sm">in force at that time</Table.Td>
          <Table.Td visibleFrom="md" className="mono">
            {definition.content_hash.slice(0, 16)}
          </Table.Td>
        </Table.Tr>
        {lists.map((list) => (
          <Table.Tr key={list.list_key}>
            <Table.Td>
              <Text size="sm" component="span">
                <ListLink list_key={list.list_key} lists={lists} />
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">{viaTexts[list.via] ?? list.via}</Table.Td>
            <Table.Td visibleFrom="md" className="mono">
              {list.content_hash.slice(0, 16)}
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}

const viaTexts: Readonly<Record<string, string>> = {
  'tenant-own': 'list of this tenant',
  'tenant-pin': 'pinned by this tenant',
  shared: 'shared list in force',
}
