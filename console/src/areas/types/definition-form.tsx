/** The form for a type definition, used for first and later versions. Errors are shown at their field. */
import { Alert, Button, Group, Stack, Table, Textarea, TextInput } from '@mantine/core'
import type { ProbityProblem } from '@probity/client'
import type { FormEvent, ReactNode } from 'react'
import type { ApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { type Draft, findInvalidJson, groupFaults, type JsonPart, jsonParts } from './definition.ts'
import { JsonEditor } from './json-editor.tsx'

const partTexts: Readonly<Record<JsonPart, readonly [label: string, description: string]>> = {
  schema: ['Entry schema', 'JSON Schema 2020-12; every string, array and number needs a limit.'],
  trim: [
    'Trimmed fields',
    'Text fields whose surrounding white space is removed: true for all, or a list of pointers. Keys are always trimmed.',
  ],
  fields: [
    'Fields',
    'By pointer: title, unit, stricter value, personal data, and whether order or white space is ignored.',
  ],
  list_rules: ['List rules', 'min_items, max_items, unique, contiguous; {} for none.'],
  examples: ['Examples', 'At least one entry; each must match the schema.'],
}

interface DefinitionFormProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly change: Pick<ApiMutation<undefined>, 'run' | 'isRunning' | 'problem' | 'waiting'>
  readonly submit: string
  readonly back: string
  /** Fields in addition to the common ones. */
  readonly first?: ReactNode
  readonly last?: ReactNode
}

export function DefinitionForm({ draft, onChange, change, submit, back, first, last }: DefinitionFormProps) {
  const errors = change.problem?.errors ?? []
  const getFault = (part: string) => groupFaults(errors, part)[0]?.detail
  function send(event: FormEvent) {
    event.preventDefault()
    if (findInvalidJson(draft).length === 0) change.run(undefined)
  }
  return (
    <form onSubmit={send}>
      <Stack gap="md" maw={980}>
        <Section title="General">
          <Stack gap="sm">
            {first}
            <TextInput
              label="Title"
              required
              maxLength={200}
              autoComplete="off"
              value={draft.title}
              error={getFault('title')}
              onChange={(event) => onChange({ ...draft, title: event.currentTarget.value })}
            />
            <Textarea
              label="Description"
              required
              autosize
              minRows={2}
              maxLength={4000}
              value={draft.description}
              error={getFault('description')}
              onChange={(event) => onChange({ ...draft, description: event.currentTarget.value })}
            />
            <TextInput
              label="Key"
              description="Fields that form the key of an entry: pointers separated by spaces"
              required
              classNames={{ input: 'mono' }}
              value={draft.key}
              error={getFault('key_pointers')}
              onChange={(event) => onChange({ ...draft, key: event.currentTarget.value })}
            />
          </Stack>
        </Section>
        <Section title="Definition">
          <Stack gap="md">
            {jsonParts.map((part) => (
              <JsonEditor
                key={part}
                label={partTexts[part][0]}
                description={partTexts[part][1]}
                value={draft[part]}
                faults={groupFaults(errors, part)}
                onChange={(text) => onChange({ ...draft, [part]: text })}
              />
            ))}
          </Stack>
        </Section>
        {last}
        <ProblemNote problem={change.problem} />
        <BreakingChanges problem={change.problem} />
        <ApprovalNote request={change.waiting} />
        <Group gap="xs">
          <Button type="submit" loading={change.isRunning}>
            {submit}
          </Button>
          <ButtonLink to={back} variant="default">
            Cancel
          </ButtonLink>
        </Group>
      </Stack>
    </form>
  )
}

interface BreakingChange {
  readonly list_key: string | null
  readonly version: number | null
  readonly pointer: string
  readonly detail: string
}

/** The data in force that would be incompatible. */
function BreakingChanges({ problem }: { readonly problem: ProbityProblem | null }) {
  const breaks = (problem?.members['breaks'] ?? []) as readonly BreakingChange[]
  if (breaks.length === 0) return null
  return (
    <Alert color="orange" title="Incompatible data">
      <PlainTable
        label="Incompatible data"
        empty={null}
        head={[{ name: 'List' }, { name: 'Field', from: 'sm' }, { name: 'Reason' }]}
      >
        {breaks.map(({ list_key, version, pointer, detail }) => (
          <Table.Tr key={`${list_key} ${pointer} ${detail}`}>
            <Table.Td>
              {list_key === null ? (
                'the type'
              ) : (
                <PageLink to={`/datasets/${list_key}`} size="sm">
                  {list_key}, version {version}
                </PageLink>
              )}
            </Table.Td>
            <Table.Td visibleFrom="sm" className="mono">
              {pointer}
            </Table.Td>
            <Table.Td>{detail}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Alert>
  )
}
