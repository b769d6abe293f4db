/** Forms of factors that are not tables: look-up, presence on a list, score by value. */
import {
  Checkbox,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Input } from '#console/ui/decision/definition-model.ts'
import { toPointer } from '#console/ui/decision/definition-model.ts'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'
import { OrderButton } from './collapsible-part.tsx'
import { useDraftContext } from './draft-context.ts'
import { setMember } from './draft-edits.ts'
import { type FactorFormProps, listInputChoices } from './factor-form-props.ts'
import { getFaultText } from './faults.tsx'
import { FieldPicker, ListPicker } from './list-pickers.tsx'
import { PluginFactorForm } from './plugin-factor-form.tsx'
import { ValueField } from './value-field.tsx'

export function FactorForm(props: FactorFormProps) {
  switch (props.factor.form) {
    case 'lookup':
      return <LookupForm {...props} />
    case 'presence':
      return <PresenceForm {...props} />
    case 'score_map':
      return <ScoreMapForm {...props} />
    case 'plugin':
      return <PluginFactorForm {...props} />
    default:
      return null
  }
}

function LookupForm({ factor, pointer, findings, onChange }: FactorFormProps) {
  const { inputs } = useDraftContext()
  const chosen = [...(factor.inputs ?? [])]
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        <ListPicker
          label="List with the scores"
          value={factor.list_key ?? ''}
          error={getFaultText(findings, `${pointer}/list_key`)}
          onChange={(list_key) => onChange((now) => ({ ...now, list_key }))}
        />
        <MultiSelect
          label="Inputs that form the key, in order"
          data={listInputChoices(inputs, chosen)}
          value={chosen}
          error={getFaultText(findings, `${pointer}/inputs`) ?? getFaultText(findings, `${pointer}/inputs/0`)}
          onChange={(names) => onChange((now) => ({ ...now, inputs: names }))}
        />
        <FieldPicker
          label="Score field"
          list_key={factor.list_key ?? ''}
          value={factor.field ?? ''}
          error={getFaultText(findings, `${pointer}/field`)}
          onChange={(field) => onChange((now) => ({ ...now, field }))}
        />
      </SimpleGrid>
      <OnMissingFields factor={factor} pointer={pointer} findings={findings} onChange={onChange} />
    </>
  )
}

function PresenceForm({ factor, pointer, findings, onChange }: FactorFormProps) {
  const value = (member: 'present' | 'absent' | 'at_most', label: string) => (
    <ValueField
      name={label}
      value={factor[member]}
      error={getFaultText(findings, `${pointer}/${member}`)}
      onChange={(typed) => onChange((now) => setMember(now, member, typed))}
    />
  )
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <OneInput factor={factor} pointer={pointer} findings={findings} onChange={onChange} />
        <ListPicker
          label="List to search"
          value={factor.list_key ?? ''}
          error={getFaultText(findings, `${pointer}/list_key`)}
          onChange={(list_key) => onChange((now) => ({ ...now, list_key }))}
        />
        {value('present', factor.count ? 'Score per value on the list' : 'Score if on the list')}
        {value('absent', factor.count ? 'Score if none is on the list' : 'Score if not on the list')}
        {factor.count && value('at_most', 'Maximum total')}
      </SimpleGrid>
      <Checkbox
        label="Count values on the list"
        checked={factor.count === true}
        onChange={({ currentTarget: { checked } }) =>
          onChange((now) =>
            checked ? { ...now, count: true } : setMember(setMember(now, 'count', undefined), 'at_most', undefined),
          )
        }
      />
    </>
  )
}

function OneInput({ factor, pointer, findings, onChange }: FactorFormProps) {
  const { inputs } = useDraftContext()
  return (
    <Select
      label="Input"
      placeholder="Choose an input"
      allowDeselect={false}
      data={listInputChoices(inputs, [factor.input ?? ''])}
      value={factor.input || null}
      error={getFaultText(findings, `${pointer}/input`)}
      onChange={(input) => input && onChange((now) => ({ ...now, input }))}
    />
  )
}

/** The allowed values of an input: its own values, the keys of its list, or yes and no. */
function useInputValues(input: Input | undefined): readonly string[] {
  const { one_of, values, type } = input ?? {}
  const { data } = useQuery({ ...listContentQuery(one_of?.list_key ?? ''), enabled: Boolean(one_of?.list_key) })
  if (type === 'boolean') return ['true', 'false']
  if (!one_of) return values ?? []
  const found = (data?.entries ?? []).map(({ key, entry }) => (one_of.field ? String(entry[one_of.field]) : key))
  return [...new Set(found)]
}

function ScoreMapForm({ factor, pointer, findings, onChange }: FactorFormProps) {
  const { inputs } = useDraftContext()
  const allowed = useInputValues(inputs.find(({ name }) => name === factor.input))
  const scores = factor.scores ?? {}
  const values = [...new Set([...allowed, ...Object.keys(scores)])]
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <OneInput factor={factor} pointer={pointer} findings={findings} onChange={onChange} />
      </SimpleGrid>
      <Text size="sm" fw={500}>
        Score by value
      </Text>
      <Text size="xs" c="red" role="alert">
        {getFaultText(findings, `${pointer}/scores`)}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xs">
        {values.map((value) => (
          <Group key={value} gap={4} wrap="nowrap" align="flex-end">
            <div style={{ flex: 1 }}>
              <ValueField
                name={value}
                inputProps={{ size: 'xs' }}
                value={scores[value]}
                error={getFaultText(findings, `${pointer}/scores${toPointer(value)}`)}
                onChange={(score) =>
                  onChange((now) => ({ ...now, scores: setMember({ ...now.scores }, value, score) }))
                }
              />
            </div>
            {!allowed.includes(value) && allowed.length > 0 && (
              <OrderButton
                label={`Remove ${value}, which is not a value of the input`}
                onClick={() => onChange((now) => ({ ...now, scores: setMember({ ...now.scores }, value, undefined) }))}
              >
                ×
              </OrderButton>
            )}
          </Group>
        ))}
      </SimpleGrid>
      <OnMissingFields factor={factor} pointer={pointer} findings={findings} onChange={onChange} />
    </>
  )
}

/** The behaviour if the list or map has no value. */
function OnMissingFields({ factor, pointer, findings, onChange }: FactorFormProps) {
  const { on_missing = 'fail' } = factor
  const at = `${pointer}/on_missing`
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Text size="sm" fw={500}>
          If no entry is found
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="If no entry is found"
          value={on_missing === 'fail' ? 'fail' : 'default'}
          onChange={(way) =>
            onChange((now) => ({ ...now, on_missing: way === 'fail' ? 'fail' : { default: 0, reason: '' } }))
          }
          data={[
            { value: 'fail', label: 'Reject the decision' },
            { value: 'default', label: 'Use a default score' },
          ]}
        />
      </Group>
      {on_missing !== 'fail' && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <ValueField
            name="Default score"
            value={on_missing.default}
            error={getFaultText(findings, `${at}/default`) ?? getFaultText(findings, at)}
            onChange={(score) => onChange((now) => ({ ...now, on_missing: { ...on_missing, default: score ?? '' } }))}
          />
          <TextInput
            label="Reason"
            value={on_missing.reason}
            error={getFaultText(findings, `${at}/reason`)}
            onChange={({ currentTarget: { value } }) =>
              onChange((now) => ({ ...now, on_missing: { ...on_missing, reason: value } }))
            }
          />
        </SimpleGrid>
      )}
    </Stack>
  )
}
