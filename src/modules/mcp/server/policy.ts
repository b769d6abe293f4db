/** What the tool policy of the tenant says to a caller. It holds for data, whichever message asks for them. */
import { decideTool, listUsableTools, type ToolRule } from '#kernel/auth/tool-policy.ts'
import { fail, Problem } from '#kernel/problem.ts'
import type { Session } from './session.ts'

export const getRules = async ({ kernel, actor, rules }: Session): Promise<readonly ToolRule[]> =>
  rules ?? ((await kernel.tenantStatusCache.get(actor.tenant_id)) ?? fail('token_invalid')).tool_rules

/** Whether the policy allows each of the tools at once. */
export async function areAllowed(session: Session, tools: readonly string[]): Promise<boolean> {
  const rules = await getRules(session)
  return tools.every((tool) => decideTool(rules, tool, session.actor.roles) === 'allow')
}

/** The tools of a caller, those that wait for a person included. */
export async function findUsableTools(session: Session): Promise<ReadonlySet<string>> {
  return new Set(listUsableTools(session.kernel.routes, await getRules(session), session.actor.roles))
}

/** Undefined where the policy lets the caller read without a tool what these tools give. */
export async function findReadProblem(session: Session, tools: readonly string[]): Promise<Problem | undefined> {
  const rules = await getRules(session)
  const tool = tools.find((one) => decideTool(rules, one, session.actor.roles) !== 'allow')
  if (tool === undefined) return undefined
  const isForbidden = decideTool(rules, tool, session.actor.roles) === 'forbid'
  const detail = `A person approves each use of ${tool}. Call the tool: a resource cannot wait for anybody.`
  return new Problem('tool_forbidden', { ...(!isForbidden && { detail }), members: { tool } })
}
