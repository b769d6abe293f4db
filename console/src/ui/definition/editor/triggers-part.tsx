/** The triggers of a draft: conditions that set a minimum band or require actions, independent of the score. */
import { Button, Group, Select, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { memo, useState } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Definition, Trigger } from '#console/ui/decision/definition-model.ts'
import { listContentQuery, parseBands } from '#console/ui/decision/list-entries.ts'
import { CollapsiblePart, OrderButton } from './collapsible-part.tsx'
import { useDraftContext } from './draft-context.ts'
import { findFreeName, moveItem, removeItem, replaceItem, setMember } from './draft-edits.ts'
import { Faults, getFaultText, hasFaults } from './faults.tsx'
import { FormOrJson } from './form-or-json.tsx'

type OnEdit = (edit: (draft: Definition) => Definition) => void
interface Name {
  readonly value: string
  readonly label: string
}

interface TriggersPartProps {
  readonly triggers: readonly Trigger[]
  /** The names a condition may refer to. */
  readonly names: readonly Name[]
  readonly findings: readonly Finding[]
  readonly onEdit: OnEdit
}

const isSame = (a: TriggersPartProps, b: TriggersPartProps): boolean =>
  a.triggers === b.triggers && a.findings === b.findings && JSON.stringify(a.names) === JSON.stringify(b.names)

export const TriggersPart = memo(function TriggersPart({ triggers, names, findings, onEdit }: TriggersPartProps) {
  const [newest, setNewest] = useState<number | null>(null)
  const edit = (change: (triggers: readonly Trigger[]) => readonly Trigger[]) =>
    onEdit((now) => ({ ...now, triggers: change(now.triggers ?? []) }))
  function add() {
    setNewest(triggers.length)
    edit((now) => {
      const taken = now.map(({ key }) => key)
      const when = [{ of: 'score', test: '>= 10000' }]
      return [...now, { key: findFreeName(taken, 'trigger-'), title: 'New trigger', when, reason_code: '', reason: '' }]
    })
  }
  return (
    <FormOrJson
      title="Triggers"
      value={triggers}
      pointer="/triggers"
      findings={findings}
      onWrite={(written) => onEdit((now) => ({ ...now, triggers: written as readonly Trigger[] }))}
    >
      <Stack gap="xs">
        {triggers.length === 0 && (
          <Text size="sm" c="dimmed">
            No triggers: the score determines the band.
          </Text>
        )}
        {triggers.map((trigger, place) => (
          <CollapsiblePart
            // Keyed by position, because the key of a trigger is edited.
            key={`${place} ${triggers.length}`}
            name={`the trigger ${trigger.title || trigger.key}`}
            title={trigger.title || trigger.key || '?'}
            about={describeTrigger(trigger)}
            pointer={`/triggers/${place}`}
            isFaulty={hasFaults(findings, `/triggers/${place}`)}
            isNew={newest === place}
            onUp={place === 0 ? null : () => edit((now) => moveItem(now, place, -1))}
            onDown={place === triggers.length - 1 ? null : () => edit((now) => moveItem(now, place, 1))}
            onRemove={() => edit((now) => removeItem(now, place))}
          >
            {() => (
              <TriggerFields
                trigger={trigger}
                pointer={`/triggers/${place}`}
                names={names}
                findings={findings}
                onChange={(change) => edit((now) => replaceItem(now, place, change))}
              />
            )}
          </CollapsiblePart>
        ))}
        <Group>
          <Button size="xs" variant="default" onClick={add}>
            Add trigger
          </Button>
        </Group>
      </Stack>
    </FormOrJson>
  )
}, isSame)

const describeTrigger = ({ floor_band, required_actions = [] }: Trigger): string =>
  [floor_band && `at least ${floor_band}`, required_actions.length > 0 && `requires ${required_actions.join(', ')}`]
    .filter(Boolean)
    .join(', ')

interface TriggerFieldsProps {
  readonly trigger: Trigger
  readonly pointer: string
  readonly names: readonly Name[]
  readonly findings: readonly Finding[]
  readonly onChange: (change: (trigger: Trigger) => Trigger) => void
}

function TriggerFields(props: TriggerFieldsProps) {
  const { trigger, pointer, findings, onChange } = props
  const fault = (member: string) => getFaultText(findings, `${pointer}/${member}`)
  const text = (member: 'title' | 'key' | 'reason' | 'reason_code', label: string, isCode = false) => (
    <TextInput
      label={label}
      {...(isCode && { classNames: { input: 'mono' } })}
      value={trigger[member] ?? ''}
      error={fault(member)}
      onChange={({ currentTarget: { value } }) => onChange((now) => ({ ...now, [member]: value }))}
    />
  )
  return (
    <Stack gap="sm">
      <Faults findings={findings.filter((one) => one.pointer === pointer || one.pointer === `${pointer}/when`)} />
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        {text('title', 'Title')}
        {text('key', 'Key', true)}
        {text('reason_code', 'Reason code', true)}
      </SimpleGrid>
      <Conditions {...props} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <FloorBand
          value={trigger.floor_band}
          error={fault('floor_band')}
          onChange={(band) => onChange((now) => setMember(now, 'floor_band', band))}
        />
        <TagsInput
          label="Required actions"
          description="Type one and press Enter."
          value={[...(trigger.required_actions ?? [])]}
          error={fault('required_actions')}
          onChange={(actions) =>
            onChange((now) => setMember(now, 'required_actions', actions.length === 0 ? undefined : actions))
          }
        />
      </SimpleGrid>
      {text('reason', 'Reason')}
    </Stack>
  )
}

function Conditions({ trigger, pointer, names, findings, onChange }: TriggerFieldsProps) {
  const conditions = trigger.when ?? []
  const edit = (change: (when: Trigger['when']) => Trigger['when']) =>
    onChange((now) => ({ ...now, when: change(now.when ?? []) }))
  return (
    <fieldset className="conditions">
      <legend>Conditions (all must hold)</legend>
      <Stack gap={6}>
        {conditions.map(({ of, test }, place) => (
          <Group key={place} gap="xs" align="flex-start" wrap="nowrap">
            <Select
              size="xs"
              flex={2}
              aria-label={`Subject of condition ${place + 1}`}
              searchable
              allowDeselect={false}
              data={names.some(({ value }) => value === of) ? [...names] : [...names, { value: of, label: of }]}
              value={of}
              error={getFaultText(findings, `${pointer}/when/${place}/of`)}
              onChange={(chosen) => chosen && edit((now) => replaceItem(now, place, (one) => ({ ...one, of: chosen })))}
            />
            <TextInput
              size="xs"
              flex={3}
              aria-label={`Test of condition ${place + 1}`}
              classNames={{ input: 'mono' }}
              spellCheck={false}
              value={test}
              error={
                getFaultText(findings, `${pointer}/when/${place}/test`) ??
                getFaultText(findings, `${pointer}/when/${place}`)
              }
              onChange={({ currentTarget: { value } }) =>
                edit((now) => replaceItem(now, place, (one) => ({ ...one, test: value })))
              }
            />
            <OrderButton
              label={`Remove condition ${place + 1}`}
              onClick={conditions.length === 1 ? null : () => edit((now) => removeItem(now, place))}
            >
              ×
            </OrderButton>
          </Group>
        ))}
        <Group>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => edit((now) => [...now, { of: names[0]?.value ?? 'score', test: '-' }])}
          >
            Add condition
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

interface FloorBandProps {
  readonly value: string | undefined
  readonly error: string | undefined
  readonly onChange: (band: string | undefined) => void
}

function FloorBand({ value, error, onChange }: FloorBandProps) {
  const { bands } = useDraftContext()
  const { data } = useQuery({ ...listContentQuery(bands?.list_key ?? ''), enabled: Boolean(bands?.list_key) })
  const known = data && bands ? parseBands(data, bands).map(({ band }) => band) : []
  return (
    <Select
      label="Minimum band"
      placeholder="Any"
      clearable
      clearButtonProps={{ 'aria-label': 'Any band' }}
      data={value === undefined || known.includes(value) ? known : [...known, value]}
      value={value ?? null}
      error={error}
      onChange={(band) => onChange(band ?? undefined)}
    />
  )
}
