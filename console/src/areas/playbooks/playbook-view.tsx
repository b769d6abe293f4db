/** The content of a playbook: steps in order with what they wait for, clocks and outcomes. */
import './playbooks.css'
import { Badge, Group, Stack, Table, Text } from '@mantine/core'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import type { PlaybookView, StepView } from './playbook-model.ts'

export function PlaybookParts({ of }: { readonly of: PlaybookView }) {
  return (
    <Stack gap="md">
      <Section title="Purpose and clocks">
        {of.about !== null && (
          <Text size="sm" mb="sm">
            {of.about}
          </Text>
        )}
        <Facts
          of={[
            ['For', of.subject_types.join(', ') || '–'],
            of.typologies.length > 0 && ['Typologies', of.typologies.join(', ')],
            ...of.clocks,
          ]}
        />
      </Section>
      <Section title="Steps">
        <PlainTable
          label="Steps"
          head={[
            { name: 'Step' },
            { name: 'What it does' },
            { name: 'After', from: 'sm' },
            { name: 'Only if', from: 'md' },
          ]}
          empty={{ title: 'No steps yet', about: 'A playbook has at least one step. Add them in a draft.' }}
        >
          {of.steps.map((step, place) => (
            <StepRow key={step.key || place} of={step} number={place + 1} steps={of.steps} />
          ))}
        </PlainTable>
      </Section>
      <Section title="Outcomes">
        <PlainTable
          label="Outcomes"
          head={[{ name: 'Outcome' }, { name: 'Needs' }, { name: 'Only if' }]}
          empty={{ title: 'No outcomes yet', about: 'An investigation ends with one of the outcomes of its playbook.' }}
        >
          {of.outcomes.map(({ code, needs, conditions }) => (
            <Table.Tr key={code}>
              <Table.Td>
                <Text size="sm" fw={500}>
                  <ReasonCodes of={[code]} />
                </Text>
                <Text size="xs" c="dimmed" className="mono">
                  {code}
                </Text>
              </Table.Td>
              <Table.Td>{toTitles(needs, of.steps)}</Table.Td>
              <Table.Td>{toConditionList(conditions)}</Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
      </Section>
    </Stack>
  )
}

const quiet = <span className="quiet">–</span>

/** Steps by their titles; a name that is no step is shown as it is. */
function toTitles(needs: readonly string[], steps: readonly StepView[]) {
  if (needs.length === 0) return quiet
  return needs.map((need) => steps.find(({ key }) => key === need)?.title ?? need).join(', ')
}

function toConditionList(conditions: readonly string[]) {
  if (conditions.length === 0) return quiet
  return conditions.map((condition) => (
    <Text key={condition} size="xs" className="mono">
      {condition}
    </Text>
  ))
}

interface StepRowProps {
  readonly of: StepView
  readonly number: number
  readonly steps: readonly StepView[]
}

function StepRow({ of, number, steps }: StepRowProps) {
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8} wrap="nowrap" align="baseline">
          <Text size="sm" c="dimmed">
            {number}
          </Text>
          <div>
            <Text size="sm" fw={500}>
              {of.title}
            </Text>
            <Group gap={6} mt={2}>
              <Badge variant="light" tt="none" miw="max-content" color="gray">
                {of.kind}
              </Badge>
              {of.required && (
                <Badge variant="light" tt="none" miw="max-content">
                  required
                </Badge>
              )}
            </Group>
          </div>
        </Group>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{of.about}</Text>
        {of.checklist.length > 0 && (
          <ul className="step-checklist">
            {of.checklist.map((item) => (
              <li key={item}>{item}</li>
            ))}
          </ul>
        )}
        {of.reuse_days !== null && (
          <Text size="xs" c="dimmed">
            An answer of the last {of.reuse_days} days is used again
          </Text>
        )}
        {of.max_cost !== null && (
          <Text size="xs" c="dimmed">
            For at most {of.max_cost}
          </Text>
        )}
        {/* The columns that a narrow screen leaves out. */}
        {of.needs.length > 0 && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            After {toTitles(of.needs, steps)}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{toTitles(of.needs, steps)}</Table.Td>
      <Table.Td visibleFrom="md">{toConditionList(of.conditions)}</Table.Td>
    </Table.Tr>
  )
}
