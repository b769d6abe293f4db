/** Which proposals wait for a person other than their proposer. Pure. */

interface Proposed {
  readonly proposal: { readonly proposed_by: string } | null
}

/** Nobody closes a case with the outcome that they proposed themselves. */
export const keepOthersProposals = <Case extends Proposed>(
  cases: readonly Case[],
  principal: string,
): readonly Case[] => cases.filter(({ proposal }) => proposal !== null && proposal.proposed_by !== principal)
