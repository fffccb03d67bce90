/** The same session, turn and approval in the examples of all routes. */
export const approval_id = "0198c5a2-7d1e-7c3a-9a51-0c5b2f7d9e10";
export const session_id = "0198c5a1-52b0-7f4e-8d0a-6b9f1c2d3e4f";
export const turn_id = "0198c5a2-1111-7abc-8def-0123456789ab";
export const head = {
  tree_id: "0198c5a1-52b0-7aaa-8bbb-1c1c1c1c1c1c",
  node_id: "0198c5a1-52b0-7ccc-8ddd-2d2d2d2d2d2d",
};
