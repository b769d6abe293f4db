/** One type: fields, rules, examples and definition. */
import { Badge, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { EntryFacts } from '#console/ui/entry-value.tsx'
import { formatCount } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { type DatasetType, datasetsQuery, typeQuery } from '#console/ui/registry-queries.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { getFieldTitle } from '#console/ui/type-texts.ts'
import { FieldTable } from './field-table.tsx'

export default function TypePage() {
  const { type_key = '' } = useParams({ strict: false }) as { type_key?: string }
  const { data: type } = useSuspenseQuery(typeQuery(type_key))
  const may = usePermission()
  return (
    <Page
      title={type.title}
      mark={
        type.origin === 'shared' && (
          <Badge variant="default" tt="none" fw={500}>
            shared
          </Badge>
        )
      }
      about={type.description}
      trail={
        <PageLink to="/types" inherit>
          Types
        </PageLink>
      }
      actions={
        type.origin === 'own' &&
        may('createDatasetTypeVersion') && <ButtonLink to={`/types/${type_key}/new-version`}>New version</ButtonLink>
      }
    >
      <Stack gap="md">
        <Section title="Fields">
          <FieldTable type={type} />
        </Section>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <TypeRecord type={type} />
          <Example type={type} />
        </SimpleGrid>
        <Section title="Definition">
          <JsonBlock value={toDefinition(type)} name="Definition as JSON" />
        </Section>
      </Stack>
    </Page>
  )
}

const toDefinition = ({ type_key, type_version, schema, key_pointers, trim, list_rules, fields }: DatasetType) => ({
  type_key,
  type_version,
  key_pointers,
  trim,
  list_rules,
  fields,
  schema,
})

function TypeRecord({ type }: { readonly type: DatasetType }) {
  const { data: datasets } = useSuspenseQuery(datasetsQuery)
  const lists = datasets.filter(({ type_key }) => type_key === type.type_key)
  return (
    <Section title="Details">
      <Facts
        of={[
          ['Key', type.key_pointers.map((pointer) => getFieldTitle(type, pointer)).join(' and ')],
          ['Trimmed fields', describeTrimmed(type)],
          ...describeRules(type).map((rule, place) => [place === 0 ? 'Rules' : `Rule ${place + 1}`, rule] as const),
          [
            'Version',
            `${type.type_version}, ${type.compatibility === 'backward' ? 'compatible with the previous version' : 'incompatible with the previous version'}`,
          ],
          ['Definition hash', <CopyValue key="hash" value={type.definition_hash} name="the definition hash" />],
          ['Created', <DateTime key="at" at={type.created_at} />],
          ['Created by', <Principal key="by" of={type.created_by} />],
          [
            'Lists of this type',
            lists.length === 0 ? (
              'none'
            ) : (
              <Stack key="lists" gap={4}>
                {lists.map(({ list_key, title, origin }) => (
                  <SearchLink key={`${origin} ${list_key}`} to={`/datasets/${list_key}`} search={{ origin }} size="sm">
                    {title}
                    {origin === 'shared' && ' (shared)'}
                  </SearchLink>
                ))}
              </Stack>
            ),
          ],
        ]}
      />
    </Section>
  )
}

function describeTrimmed(type: DatasetType): string {
  const { trim = [] } = type
  if (trim === true) return 'all'
  return trim.map((pointer) => getFieldTitle(type, pointer)).join(', ') || 'key only'
}

/** The list rules as sentences. */
function describeRules(type: DatasetType): string[] {
  const { min_items, max_items, unique = [], contiguous } = type.list_rules
  const titles = (pointers: readonly string[]) => pointers.map((pointer) => getFieldTitle(type, pointer)).join(' and ')
  return [
    min_items !== undefined && `At least ${formatCount(min_items, 'entry', 'entries')}.`,
    max_items !== undefined && `At most ${formatCount(max_items, 'entry', 'entries')}.`,
    ...unique.map((pointers) => `No two entries have the same ${titles(pointers)}.`),
    contiguous !== undefined &&
      `Bands from ${titles([contiguous.from])} to ${titles([contiguous.to])}, without gap or overlap.`,
  ].filter((rule) => typeof rule === 'string')
}

function Example({ type }: { readonly type: DatasetType }) {
  const [way, setWay] = useState('facts')
  const example = type.examples[0]
  return (
    <Section
      title="Example"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Format of the example"
          value={way}
          onChange={setWay}
          data={[
            { value: 'facts', label: 'Fields' },
            { value: 'json', label: 'JSON' },
          ]}
        />
      }
    >
      {example === undefined ? (
        <Text size="sm">None.</Text>
      ) : way === 'json' ? (
        <JsonBlock value={type.examples} name="Examples" />
      ) : (
        <EntryFacts type={type} entry={example} />
      )}
    </Section>
  )
}
