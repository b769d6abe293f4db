/** Why a job failed, in the words of the console where the server names a call of a provider and its fault. */
import { formatOperation } from '../format.ts'
import { TargetName } from '../target-name.tsx'
import { describeFault, parseCallFailure } from './provider-texts.ts'

export function JobFailure({ reason }: { readonly reason: string }) {
  const call = parseCallFailure(reason)
  if (call === null) return reason
  return (
    <>
      “{formatOperation(call.capability)}” at <TargetName kind="provider" target_key={call.provider_key} /> had no
      answer: {describeFault(call.fault)}
    </>
  )
}
