/** Bytes that a query returns as base64 text, piece by piece. */

export const decodePieces = (rows: readonly { text: string }[]): Buffer[] =>
  rows.map((row) => {
    const piece = Buffer.from(row.text, 'base64')
    // Rows are collected late; their texts should not wait for that.
    row.text = ''
    return piece
  })
