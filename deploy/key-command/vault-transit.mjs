#!/usr/bin/env node
// A key command for the transit engine of HashiCorp Vault or OpenBao. It reads one request on its standard input and prints one answer;
// docs/operations.md, "Key command", describes both. The key never leaves Vault. Settings, from the environment of the process:
//   VAULT_ADDR        https://vault.example.com
//   VAULT_TOKEN_FILE  a file with a token that may update transit/encrypt/<key> and transit/decrypt/<key>
import fs from 'node:fs'

const request = JSON.parse(fs.readFileSync(0, 'utf8'))
const { operation, key_id, plaintext, wrapped } = request
const operations = {
  wrap: { path: 'encrypt', body: { plaintext }, read: ({ ciphertext }) => ({ wrapped: encode(ciphertext) }) },
  unwrap: {
    path: 'decrypt',
    body: { ciphertext: wrapped && decode(wrapped) },
    read: (data) => ({ plaintext: data.plaintext }),
  },
}
const chosen = operations[operation]
if (!chosen) throw new Error(`unknown operation ${operation}`)

// key_id is a name of PROBITY_KEY_COMMAND_ID; here it is also the name of the key in Vault.
const response = await fetch(`${process.env.VAULT_ADDR}/v1/transit/${chosen.path}/${encodeURIComponent(key_id)}`, {
  method: 'POST',
  headers: { 'x-vault-token': fs.readFileSync(process.env.VAULT_TOKEN_FILE, 'utf8').trim() },
  body: JSON.stringify(chosen.body),
})
if (!response.ok) throw new Error(`Vault answered ${response.status}`)
console.log(JSON.stringify(chosen.read((await response.json()).data)))

// Vault's ciphertext is a text such as vault:v1:…; the answer holds base64.
function encode(text) {
  return Buffer.from(text).toString('base64')
}
function decode(text) {
  return Buffer.from(text, 'base64').toString()
}
