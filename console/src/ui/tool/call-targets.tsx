/** The objects that the arguments of a tool call refer to by key or id, shown by name for the person who approves it. */
import { listTargets } from '../change-request/describe-change.ts'
import { getTargetPage, useTargetName } from '../change-request/use-target-name.ts'
import { PageLink } from '../link.tsx'

type Target = ReturnType<typeof listTargets>[number]
type Arguments = Readonly<Record<string, unknown>>

export const hasTargets = (given: Arguments): boolean => listTargets(given).length > 0

export function CallTargets({ of: given, hasLinks = true }: { readonly of: Arguments; readonly hasLinks?: boolean }) {
  return listTargets(given).map((target, place) => (
    <span key={`${target.kind} ${target.key}`}>
      {place > 0 && ', '}
      {hasLinks ? <TargetLink target={target} /> : <TargetName target={target} />}
    </span>
  ))
}

function TargetName({ target }: { readonly target: Target }) {
  return useTargetName(target)
}

function TargetLink({ target }: { readonly target: Target }) {
  const page = getTargetPage(target)
  if (page === null) return <TargetName target={target} />
  return (
    <PageLink to={page.to} size="sm">
      <TargetName target={target} />
    </PageLink>
  )
}
