/** The definition of a type as a form, for a first version and for the next one; faults stand where they are. */
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
  schema: ['Schema of one entry', 'JSON Schema 2020-12; every text, list and number has a limit.'],
  trim: [
    'Trimmed texts',
    'Texts that lose the white space around them: true for all, or a list of pointers; [] for none. The key always does.',
  ],
  fields: [
    'Fields',
    'By pointer: what people call a member, its unit, which value is stricter, whether it is personal, whether its order (set) or white space means nothing.',
  ],
  list_rules: ['Rules over the whole list', 'min_items, max_items, unique, contiguous; {} for none.'],
  examples: ['Examples', 'A list of entries, at least one; each must fit the schema.'],
}

interface DefinitionFormProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly change: Pick<ApiMutation<undefined>, 'run' | 'isRunning' | 'problem' | 'waiting'>
  readonly submit: string
  readonly back: string
  /** Beside what every definition has. */
  readonly first?: ReactNode
  readonly last?: ReactNode
}

export function DefinitionForm({ draft, onChange, change, submit, back, first, last }: DefinitionFormProps) {
  const errors = change.problem?.errors ?? []
  const faultOf = (part: string) => groupFaults(errors, part)[0]?.detail
  function send(event: FormEvent) {
    event.preventDefault()
    if (findInvalidJson(draft).length === 0) change.run(undefined)
  }
  return (
    <form onSubmit={send}>
      <Stack gap="md" maw={980}>
        <Section title="What it is">
          <Stack gap="sm">
            {first}
            <TextInput
              label="Title"
              required
              maxLength={200}
              autoComplete="off"
              value={draft.title}
              error={faultOf('title')}
              onChange={(event) => onChange({ ...draft, title: event.currentTarget.value })}
            />
            <Textarea
              label="Description"
              required
              autosize
              minRows={2}
              maxLength={4000}
              value={draft.description}
              error={faultOf('description')}
              onChange={(event) => onChange({ ...draft, description: event.currentTarget.value })}
            />
            <TextInput
              label="Key"
              description="Which members make the key of an entry: pointers, with spaces between"
              required
              classNames={{ input: 'mono' }}
              value={draft.key}
              error={faultOf('key_pointers')}
              onChange={(event) => onChange({ ...draft, key: event.currentTarget.value })}
            />
          </Stack>
        </Section>
        <Section title="What an entry is made of">
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

/** What of the data in force would no longer fit. */
function BreakingChanges({ problem }: { readonly problem: ProbityProblem | null }) {
  const breaks = (problem?.members['breaks'] ?? []) as readonly BreakingChange[]
  if (breaks.length === 0) return null
  return (
    <Alert color="orange" title="What would break">
      <PlainTable label="What would break" head={[{ name: 'List' }, { name: 'Field', from: 'sm' }, { name: 'Why' }]}>
        {breaks.map(({ list_key, version, pointer, detail }) => (
          <Table.Tr key={`${list_key} ${pointer} ${detail}`}>
            <Table.Td>
              {list_key === null ? (
                'the type itself'
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
