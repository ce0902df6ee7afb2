// SPDX-License-Identifier: MIT
// Files that are dropped go to the worker as they are: nothing is read here. What the worker says is shown.

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
const target = document.querySelector("#drop");
const said = document.querySelector("#said");

target.addEventListener("dragover", (event) => event.preventDefault());
target.addEventListener("drop", (event) => {
  event.preventDefault();
  said.textContent = "";
  worker.postMessage([...event.dataTransfer.files]);
});
worker.onmessage = ({ data }) => (said.textContent = JSON.stringify(data));
worker.onerror = ({ message }) => (said.textContent = JSON.stringify({ error: message }));
