"""Desks: what people say of the pictures of a collection and what is made of it, behind the routes that tell it.

labeling_desk       LabelingDesk, labels that are given and taken back, and the thread that learns from them
class_search        ClassSearch, names of classes by some letters
audit_desk          AuditDesk, the audit that runs and the last one, a page at a time
collection_audit    CollectionAudit, what an audit found, and its file
exported_tables     labels, paths, duplicates and the model, as they leave the page
"""
