/** Imports decision tables from DMN or GoRules files as drafts of rules, and lists what was not imported. */
import { Button, FileButton, Group, SegmentedControl, Stack, Table, Text, Textarea, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'

type Imported = Schemas['RuleImport']
type Format = 'dmn' | 'gorules'

const blank = { format: 'dmn' as Format, text: '', key_prefix: '' }

export default function ImportRulesPage() {
  const [order, setOrder] = useState(blank)
  const [imported, setImported] = useState<Imported | null>(null)
  const take = useApiMutation(
    () =>
      probity.POST('/api/rules/import', {
        body: {
          format: order.format,
          text: order.text,
          ...(order.key_prefix !== '' && { key_prefix: order.key_prefix }),
        },
      }),
    {
      invalidates: ['definitions'],
      successMessage: ({ items }) => `${formatCount(items.length, 'rule')} imported as drafts`,
      onDone: setImported,
    },
  )
  const left = (take.problem?.members['findings'] ?? imported?.findings ?? []) as Imported['findings']
  return (
    <Page
      title="Import rules"
      about="Decision tables with an exact equivalent become rules with a draft. Everything else is reported. Nothing is published."
      trail={
        <PageLink to="/rules" inherit>
          Rules
        </PageLink>
      }
      width="text"
    >
      <Stack gap="md">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            take.run(undefined)
          }}
        >
          <Stack gap="sm">
            <ImportFields value={order} onChange={setOrder} />
            <ProblemNote problem={take.problem} />
            <Group>
              <Button type="submit" loading={take.isRunning}>
                Import
              </Button>
            </Group>
          </Stack>
        </form>
        {imported && <CreatedRules imported={imported} />}
        <Findings findings={left.map(({ example: _, ...finding }) => finding)} title="Findings of the import" />
      </Stack>
    </Page>
  )
}

interface ImportFieldsProps {
  readonly value: typeof blank
  readonly onChange: (value: typeof blank) => void
}

function ImportFields({ value, onChange }: ImportFieldsProps) {
  async function read(file: File | null) {
    if (!file) return
    const format = file.name.endsWith('.json') ? 'gorules' : 'dmn'
    onChange({ ...value, format, text: await file.text() })
  }
  return (
    <>
      <Group gap="sm">
        <FileButton onChange={read} accept=".dmn,.xml,.json">
          {(props) => (
            <Button variant="default" {...props}>
              Choose file
            </Button>
          )}
        </FileButton>
        <SegmentedControl
          aria-label="Format"
          value={value.format}
          onChange={(format) => onChange({ ...value, format: format as Format })}
          data={[
            { value: 'dmn', label: 'DMN 1.x XML' },
            { value: 'gorules', label: 'GoRules JSON' },
          ]}
        />
      </Group>
      <Textarea
        label="File content"
        required
        autosize
        minRows={6}
        maxRows={20}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        value={value.text}
        onChange={(event) => onChange({ ...value, text: event.currentTarget.value })}
      />
      <TextInput
        label="Key prefix"
        maxLength={40}
        classNames={{ input: 'mono' }}
        value={value.key_prefix}
        onChange={(event) => onChange({ ...value, key_prefix: event.currentTarget.value })}
      />
    </>
  )
}

function CreatedRules({ imported }: { readonly imported: Imported }) {
  return (
    <Section title={`${formatCount(imported.items.length, 'rule')} imported as drafts`}>
      <PlainTable
        label="Imported rules"
        empty={null}
        head={[
          { name: 'Rule' },
          { name: 'Table in the file' },
          { name: 'Reads from', from: 'sm' },
          { name: 'Findings' },
        ]}
      >
        {imported.items.map(({ rule_key, name, place, reads, only_if, findings }) => (
          <Table.Tr key={rule_key}>
            <Table.Td>
              <PageLink to={`/rules/${rule_key}/draft`} size="sm">
                {rule_key}
              </PageLink>
            </Table.Td>
            <Table.Td>
              {name}
              <Text size="xs" c="dimmed" className="mono">
                {place}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {reads.map((link) => (
                <Text key={`${link.input} ${link.node}`} size="xs">
                  {link.input} from {link.rule_key ?? `${link.node}, which was not imported`}
                </Text>
              ))}
              {only_if.map((branch) => (
                <Text key={`${branch.node} ${branch.value}`} size="xs">
                  {' '}
                  only if {branch.rule_key ?? branch.node} gives “{branch.value}”
                </Text>
              ))}
            </Table.Td>
            <Table.Td>{findings.length === 0 ? 'none' : formatCount(findings.length, 'finding')}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}
