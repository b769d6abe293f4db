/** The editable parts of a draft: settings and facts as forms, everything else as JSON with located findings. */
import { Stack } from '@mantine/core'
import { useMemo } from 'react'
import { DraftContext } from '#console/ui/definition/editor/draft-context.ts'
import { JsonPart } from '#console/ui/definition/editor/json-part.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { Section } from '#console/ui/section.tsx'
import type { Contract } from './contract-model.ts'
import type { ContractPartsProps } from './contract-parts-props.ts'
import { FactsPart } from './facts-part.tsx'
import { SettingsPart } from './settings-part.tsx'

interface JsonPartText {
  readonly member: 'record' | 'checks' | 'personal' | 'examples' | 'counter_examples'
  readonly title: string
  readonly about: string
}

const jsonParts: readonly JsonPartText[] = [
  {
    member: 'record',
    title: 'Schema of a record',
    about: 'JSON Schema 2020-12 of one record: which fields it has, of which kind and format, and which are required.',
  },
  {
    member: 'checks',
    title: 'Checks',
    about:
      'Conditions on facts, such as [{"key": "dates-ordered", "when": [{"of": "closed_on", "test": "> founded_on"}], "else": "quarantine"}].',
  },
  {
    member: 'personal',
    title: 'Personal data',
    about: 'Fields that are personal although they are no facts. Confirm the proposed ones by removing "guessed".',
  },
  { member: 'examples', title: 'Examples', about: 'Payloads that must be admitted. At least one.' },
  {
    member: 'counter_examples',
    title: 'Counter-examples',
    about: 'Payloads that must be refused, with the places in "violates".',
  },
]

/** Absent parts are edited as an empty list, and removed again while they are empty. */
const toMember = (member: JsonPartText['member'], value: unknown): object =>
  member === 'record' || member === 'examples' || !Array.isArray(value) || value.length > 0 ? { [member]: value } : {}

export function ContractParts({
  draft,
  findings,
  onEdit,
  isReadOnly,
}: ContractPartsProps & { readonly isReadOnly: boolean }) {
  const surroundings = useMemo(() => ({ inputs: [], bands: undefined, onTry: () => {} }), [])
  if (isReadOnly)
    return (
      <Section title="Draft">
        <JsonBlock value={draft} name="Draft" />
      </Section>
    )
  return (
    <DraftContext value={surroundings}>
      <Stack gap="md" miw={0}>
        <SettingsPart draft={draft} findings={findings} onEdit={onEdit} />
        <FactsPart draft={draft} findings={findings} onEdit={onEdit} />
        {jsonParts.map(({ member, title, about }) => (
          <Section key={member} title={title}>
            <JsonPart
              label={`${title} as JSON`}
              description={about}
              value={draft[member] ?? (member === 'record' ? {} : [])}
              pointer={`/${member}`}
              findings={findings}
              onChange={(value) =>
                onEdit(({ [member]: _, ...rest }) => ({ ...rest, ...toMember(member, value) }) as Contract)
              }
            />
          </Section>
        ))}
      </Stack>
    </DraftContext>
  )
}
