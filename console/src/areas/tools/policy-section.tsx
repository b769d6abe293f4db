/** The tool policy: its rules in words, and the dialog that changes them. */
import { ActionIcon, Button, Group, MultiSelect, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toSentence } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Section } from '#console/ui/section.tsx'
import {
  decisionNames,
  decisions,
  EVERY_OTHER_TOOL_NAME,
  EVERY_TOOL,
  formatRule,
  type Tool,
  type ToolDecision,
  type ToolPolicy,
  type ToolRule,
} from '#console/ui/tool/tool-texts.ts'

interface PolicyProps {
  readonly policy: ToolPolicy
  readonly tools: readonly Tool[]
}

export function PolicySection({ policy, tools }: PolicyProps) {
  const may = usePermission()
  const namesNone = policy.rules.every(({ tool }) => tool === EVERY_TOOL)
  return (
    <Section title="Tool policy" actions={may('updateToolPolicy') && <EditPolicy policy={policy} tools={tools} />}>
      <Stack gap="xs">
        <Text size="sm">
          {policy.rules.length === 0 ? 'No rules: tools are' : 'Tools without a rule are'} allowed to those who have the
          role for them. <OffByDefault tools={tools} />
        </Text>
        {policy.rules.length > 0 && (
          <ul className="policy-rules" aria-label="Rules of the tool policy">
            {policy.rules.map((rule) => (
              <li key={`${rule.tool} ${rule.roles.join()} ${rule.decision}`}>{formatRule(rule, namesNone)}</li>
            ))}
          </ul>
        )}
        {policy.updated_at !== null && policy.updated_by !== null && (
          <Text size="xs" c="dimmed">
            Revision {policy.revision}, by <Principal of={policy.updated_by} />, <DateTime at={policy.updated_at} />
          </Text>
        )}
      </Stack>
    </Section>
  )
}

/** A rule for every tool turns none of them on. */
function OffByDefault({ tools }: { readonly tools: readonly Tool[] }) {
  const titles = tools.filter((tool) => tool.off_by_default).map(({ title }) => `“${title}”`)
  if (titles.length === 0) return null
  return <>Off for everybody until a rule names them: {titles.join(', ')}.</>
}

interface RuleInEdit extends ToolRule {
  readonly id: number
}

function EditPolicy({ policy, tools }: PolicyProps) {
  const [isOpen, dialog] = useDisclosure(false)
  const queries = useQueryClient()
  const initial = () => policy.rules.map((rule, id) => ({ ...rule, id }))
  const [rules, setRules] = useState<readonly RuleInEdit[]>(initial)
  const [reason, setReason] = useState('')
  const save = useApiMutation(
    () =>
      probity.PUT('/api/mcp/tool-policy', {
        body: {
          rules: rules.map(({ id: _id, ...rule }) => rule),
          reason,
          // A tenant without a policy has none to be out of date.
          ...(policy.updated_at !== null && { expected_revision: policy.revision }),
        },
      }),
    { invalidates: ['tools'], successMessage: 'Tool policy changed', onDone: dialog.close },
  )
  function open() {
    setRules(initial())
    setReason('')
    save.reset()
    dialog.open()
  }
  const add = () =>
    setRules([
      ...rules,
      { id: 1 + Math.max(-1, ...rules.map(({ id }) => id)), tool: EVERY_TOOL, roles: [], decision: 'person' },
    ])
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Change the policy
      </Button>
      <FormDialog
        title="Change the tool policy"
        size="xl"
        isOpen={isOpen}
        onClose={dialog.close}
        onSubmit={() => save.run(undefined)}
        submit="Save policy"
        change={save}
        onReload={() => {
          // The rules in the dialog are those of an earlier revision.
          dialog.close()
          return queries.invalidateQueries({ queryKey: ['tools'] })
        }}
      >
        <Text size="sm">
          A rule that names a tool comes before the rule for every other tool. Where several rules fit a caller, the
          strictest holds. “A person approves” makes each call wait until a compliance officer approves exactly its
          arguments.
        </Text>
        <Text size="sm">
          <OffByDefault tools={tools} /> A rule that allows such a tool turns it on for its callers.
        </Text>
        <Stack gap="xs">
          {rules.map((rule, place) => (
            <RuleFields
              key={rule.id}
              rule={rule}
              place={place + 1}
              tools={tools}
              onChange={(part) => setRules(rules.map((one) => (one.id === rule.id ? { ...one, ...part } : one)))}
              onRemove={() => setRules(rules.filter(({ id }) => id !== rule.id))}
            />
          ))}
          {rules.length === 0 && (
            <Text size="sm" c="dimmed">
              No rules: every tool that is on by default is allowed to those who have the role for it.
            </Text>
          )}
          <Group>
            <Button size="xs" variant="default" onClick={add}>
              Add a rule
            </Button>
          </Group>
        </Stack>
        <ReasonField value={reason} onChange={setReason} />
        <ApprovalNote request={save.waiting} />
      </FormDialog>
    </>
  )
}

interface RuleFieldsProps {
  readonly rule: ToolRule
  readonly place: number
  readonly tools: readonly Tool[]
  readonly onChange: (part: Partial<ToolRule>) => void
  readonly onRemove: () => void
}

function RuleFields({ rule, place, tools, onChange, onRemove }: RuleFieldsProps) {
  const roles = [...new Set(tools.flatMap((tool) => tool.roles))]
  return (
    <div className="rule-fields">
      <Select
        size="xs"
        aria-label={`Tool of rule ${place}`}
        searchable
        allowDeselect={false}
        data={[
          { value: EVERY_TOOL, label: EVERY_OTHER_TOOL_NAME },
          ...tools.map(({ tool, title, off_by_default }) => ({
            value: tool,
            label: off_by_default ? `${title} (off by default)` : title,
          })),
        ]}
        value={rule.tool}
        onChange={(tool) => tool !== null && onChange({ tool })}
      />
      <MultiSelect
        size="xs"
        aria-label={`Callers of rule ${place}`}
        placeholder={rule.roles.length === 0 ? 'All callers' : ''}
        data={roles.map((role) => ({ value: role, label: toSentence(role) }))}
        value={[...rule.roles]}
        onChange={(chosen) => onChange({ roles: roles.filter((role) => chosen.includes(role)) })}
      />
      <Select
        size="xs"
        aria-label={`Decision of rule ${place}`}
        allowDeselect={false}
        data={decisions.map((decision) => ({ value: decision, label: toSentence(decisionNames[decision]) }))}
        value={rule.decision}
        onChange={(decision) => decision !== null && onChange({ decision: decision as ToolDecision })}
      />
      <ActionIcon variant="subtle" color="gray" aria-label={`Remove rule ${place}`} onClick={onRemove}>
        <Icon name="cross" size={16} />
      </ActionIcon>
    </div>
  )
}
