/** Badges of tools, decisions of the tool policy and states. Colour only repeats the text. */
import { Badge, Tooltip } from '@mantine/core'
import {
  colorApprovalState,
  decisionColors,
  effectColors,
  effectNames,
  effectTexts,
  nameApprovalState,
  type RoleDecision,
  roleDecisionNames,
  type ServerToolState,
  type Tool,
  type ToolApproval,
  toolStateColors,
  toolStateNames,
  toolStateTexts,
} from './tool-texts.ts'

interface MarkProps {
  readonly color: string
  readonly words: string
  readonly about?: string
}

function Mark({ color, words, about }: MarkProps) {
  const badge = (
    <Badge variant="light" tt="none" miw="max-content" color={color}>
      {words}
    </Badge>
  )
  if (about === undefined) return badge
  return (
    <Tooltip label={about} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {badge}
    </Tooltip>
  )
}

export const EffectBadge = ({ effect }: { readonly effect: Tool['effect'] }) => (
  <Mark color={effectColors[effect]} words={effectNames[effect]} about={effectTexts[effect]} />
)

export const DecisionBadge = ({ decision }: { readonly decision: RoleDecision }) => (
  <Mark
    color={decisionColors[decision]}
    words={roleDecisionNames[decision]}
    {...(decision === 'off' && { about: 'Nobody may use it before a rule of the tool policy names it.' })}
  />
)

export const ApprovalStateBadge = ({ approval }: { readonly approval: ToolApproval }) => (
  <Mark color={colorApprovalState(approval)} words={nameApprovalState(approval)} />
)

export const ToolStateBadge = ({ state }: { readonly state: ServerToolState }) => (
  <Mark color={toolStateColors[state]} words={toolStateNames[state]} about={toolStateTexts[state]} />
)

export const CallOutcomeBadge = ({ problem }: { readonly problem: string | null }) => {
  if (problem === null) return <Mark color="teal" words="succeeded" />
  return problem === 'tool_approval_required' ? (
    <Mark color="orange" words="waited for a person" />
  ) : (
    <Mark color="red" words="problem" />
  )
}
