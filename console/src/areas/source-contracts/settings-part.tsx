/** Where the records of a payload are, its limits, where it comes from and how old it may be. */
import { Checkbox, NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { toAnchorId } from '#console/ui/definition/editor/anchor.ts'
import { setMember } from '#console/ui/definition/editor/draft-edits.ts'
import { getFaultText } from '#console/ui/definition/editor/faults.tsx'
import { Section } from '#console/ui/section.tsx'
import { type Contract, type Provenance, unknownMemberTexts } from './contract-model.ts'
import type { ContractPartsProps } from './contract-parts-props.ts'

const DAY_S = 86_400

export function SettingsPart({ draft, findings, onEdit }: ContractPartsProps) {
  const fault = (pointer: string) => getFaultText(findings, pointer)
  const part = { draft, findings, onEdit }
  return (
    <Section title="Payload">
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <div id={toAnchorId('/records_at')}>
            <TextInput
              label="Records are at"
              description="JSON Pointer to the list of records. Empty: the payload is one record or a list."
              placeholder="/result/items"
              classNames={{ input: 'mono' }}
              value={draft.records_at ?? ''}
              error={fault('/records_at')}
              onChange={({ currentTarget: { value } }) => onEdit((now) => ({ ...now, records_at: value }))}
            />
          </div>
          <Select
            label="Undeclared fields"
            description="What happens to fields that the schema does not declare."
            allowDeselect={false}
            data={Object.entries(unknownMemberTexts).map(([value, label]) => ({ value, label }))}
            value={draft.unknown_members ?? 'note'}
            error={fault('/unknown_members')}
            onChange={(value) =>
              onEdit((now) => ({ ...now, unknown_members: (value ?? 'note') as keyof typeof unknownMemberTexts }))
            }
          />
          <LimitField {...part} member="max_records" label="Most records" placeholder="500" />
          <LimitField {...part} member="max_bytes" label="Most bytes" placeholder="2,097,152" />
          <PlaceField {...part} member="source" label="Source is at" description="JSON Pointer into the payload." />
          <PlaceField
            {...part}
            member="as_of"
            label="Date of the data is at"
            description="A date, or an instant with its zone."
          />
          <FreshnessField {...part} />
          <TextInput
            label="Capability"
            description="What providers call the lookup that gives these payloads."
            placeholder="company.lookup"
            classNames={{ input: 'mono' }}
            value={draft.capability ?? ''}
            error={fault('/capability')}
            onChange={({ currentTarget: { value } }) => onEdit((now) => setMember(now, 'capability', value))}
          />
        </SimpleGrid>
        <Checkbox
          label="Admit the good records of a payload that has bad ones"
          description="The result then says that it is incomplete. Otherwise one bad record sends the whole payload into quarantine."
          checked={draft.partial === 'record'}
          onChange={({ currentTarget: { checked } }) =>
            onEdit((now) => setMember(now, 'partial', checked ? 'record' : undefined))
          }
        />
      </Stack>
    </Section>
  )
}

interface LimitFieldProps extends ContractPartsProps {
  readonly member: 'max_records' | 'max_bytes'
  readonly label: string
  readonly placeholder: string
}

function LimitField({ draft, findings, onEdit, member, label, placeholder }: LimitFieldProps) {
  return (
    <div id={toAnchorId(`/${member}`)}>
      <NumberInput
        label={label}
        min={1}
        allowDecimal={false}
        placeholder={placeholder}
        thousandSeparator=","
        value={draft[member] ?? ''}
        error={getFaultText(findings, `/${member}`)}
        onChange={(value) =>
          onEdit((now) => setMember(now, member, typeof value === 'number' ? value : undefined) as Contract)
        }
      />
    </div>
  )
}

interface PlaceFieldProps extends ContractPartsProps {
  readonly member: 'source' | 'as_of'
  readonly label: string
  readonly description: string
}

/** Where a payload says something about its origin, and whether it must. */
function PlaceField({ draft, findings, onEdit, member, label, description }: PlaceFieldProps) {
  const { provenance = {} } = draft
  const setProvenance = (change: (now: Provenance) => Provenance) =>
    onEdit((now) => {
      const next = change(now.provenance ?? {})
      return setMember(now, 'provenance', Object.keys(next).length === 0 ? undefined : next)
    })
  return (
    <Stack gap={6} id={toAnchorId(`/provenance/${member}`)}>
      <TextInput
        label={label}
        description={description}
        placeholder={member === 'source' ? '/meta/source' : '/meta/updated_at'}
        classNames={{ input: 'mono' }}
        value={provenance[member] ?? ''}
        error={getFaultText(findings, `/provenance/${member}`)}
        onChange={({ currentTarget: { value } }) => setProvenance((now) => setMember(now, member, value))}
      />
      <Checkbox
        size="xs"
        label="A payload without it is refused"
        checked={(provenance.required ?? []).includes(member)}
        onChange={({ currentTarget: { checked } }) =>
          setProvenance((now) => {
            const next = [...(now.required ?? []).filter((one) => one !== member), ...(checked ? [member] : [])]
            return setMember(now, 'required', next.length === 0 ? undefined : next)
          })
        }
      />
    </Stack>
  )
}

function FreshnessField({ draft: { freshness }, findings, onEdit }: ContractPartsProps) {
  return (
    <div id={toAnchorId('/freshness')}>
      <NumberInput
        label="Refused when older than (days)"
        description="Measured from the date of the data to its arrival."
        min={0}
        decimalScale={4}
        value={freshness ? freshness.max_age_s / DAY_S : ''}
        error={getFaultText(findings, '/freshness') ?? getFaultText(findings, '/freshness/max_age_s')}
        onChange={(days) =>
          onEdit((now) =>
            setMember(
              now,
              'freshness',
              typeof days === 'number' && days > 0
                ? { max_age_s: Math.max(1, Math.round(days * DAY_S)), measured_from: 'as_of' }
                : undefined,
            ),
          )
        }
      />
    </div>
  )
}
