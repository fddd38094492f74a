export {};
document.title = 'x';
