/** Who did something in a case. A job has no name that people know: it follows the playbook, or a schedule of the service. */
import { Principal } from '#console/ui/principal.tsx'

interface CaseAuthorProps {
  readonly of: string
  /** False: the job does something else than the steps of the playbook. */
  readonly isStep?: boolean
}

export function CaseAuthor({ of, isStep = true }: CaseAuthorProps) {
  if (of.startsWith('job:')) return isStep ? 'by the playbook' : 'automatically'
  return (
    <>
      by <Principal of={of} isAlwaysNamed />
    </>
  )
}
