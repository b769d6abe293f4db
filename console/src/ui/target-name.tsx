/** A list, provider, contract and so on by its title, with its key as a hint. */
import type { ChangeTarget } from './change-request/describe-change.ts'
import { useTargetName } from './change-request/use-target-name.ts'

export function TargetName({ kind, target_key }: { readonly kind: ChangeTarget['kind']; readonly target_key: string }) {
  return <span title={target_key}>{useTargetName({ kind, key: target_key })}</span>
}
